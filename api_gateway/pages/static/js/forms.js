// A form is sent once; Ctrl+Enter sends it from a text box.
for (const form of document.querySelectorAll("form[data-once]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
    for (const button of document.querySelectorAll("button[type=submit]")) {
      if (button.form === form) button.setAttribute("aria-disabled", "true");
    }
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
}
// A page that comes back from the history may be sent again.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  for (const button of document.querySelectorAll("[aria-disabled]")) {
    button.removeAttribute("aria-disabled");
  }
});
