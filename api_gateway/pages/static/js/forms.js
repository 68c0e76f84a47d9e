// A form is sent once; Ctrl+Enter sends it from a text box. What was written is not sent into a
// sign-in that has ended, where it would be lost: it stays until somebody has signed in again.
async function ended(form) {
  const token = form.elements.namedItem("csrf");
  if (!token || !form.querySelector("textarea")) return false;
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (response.redirected && new URL(response.url).pathname === "/signin") return true;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    token.value = page.querySelector('input[name="csrf"]')?.value ?? token.value;
  } catch {
    // The browser says itself that nobody answers.
  }
  return false;
}

function askToSignIn(form) {
  form.querySelector("[data-ended]")?.remove();
  const told = document.createElement("p");
  told.className = "problem";
  told.dataset.ended = "yes";
  told.setAttribute("role", "alert");
  const link = document.createElement("a");
  link.href = "/signin";
  link.target = "_blank";
  link.textContent = "Sign in again in another window";
  told.append("Not sent: the sign-in has ended. ", link, ", then send this once more.");
  form.append(told);
}

function mark(form, isSent) {
  if (isSent) form.dataset.sent = "yes";
  else delete form.dataset.sent;
  for (const button of document.querySelectorAll("button[type=submit]")) {
    if (button.form !== form) continue;
    if (isSent) button.setAttribute("aria-disabled", "true");
    else button.removeAttribute("aria-disabled");
  }
}

// Of the document, so that it holds for forms that come later, too.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-once]")) return;
  event.preventDefault();
  if (form.dataset.sent) return;
  mark(form, true);
  if (await ended(form)) {
    mark(form, false);
    askToSignIn(form);
  } else {
    form.submit();
  }
});
document.addEventListener("keydown", (event) => {
  const form = event.target.form;
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  if (form?.matches("[data-once]")) form.requestSubmit();
});
// A page that comes back from the history may be sent again.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const form of document.querySelectorAll("form[data-sent]")) mark(form, false);
});
