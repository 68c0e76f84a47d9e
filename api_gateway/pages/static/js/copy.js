// Copies an export to the clipboard.
const told = document.querySelector("[data-copied]");
for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!navigator.clipboard) continue; // only where the page is served securely
  button.hidden = false;
  button.addEventListener("click", async () => {
    const response = await fetch(button.dataset.copy);
    if (!response.ok) return;
    await navigator.clipboard.writeText(await response.text());
    button.classList.add("copied");
    told.textContent = "Copied";
    setTimeout(() => {
      button.classList.remove("copied");
      told.textContent = "";
    }, 2000);
  });
}
