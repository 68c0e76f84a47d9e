// Shows the parts of a page that change anew every few seconds, but for those in which somebody works.
const EVERY_MS = 5000;

function isInUse(part) {
  return part.contains(document.activeElement) || part.querySelector("details[open], [data-sent]");
}

async function look() {
  const response = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!response.ok || response.redirected) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const other = fresh.getElementById(part.id);
    if (other && !isInUse(part)) part.replaceChildren(...other.childNodes);
  }
}

setInterval(() => {
  // Nobody reads a page that lies behind another; where nobody answers, the page stays as it is.
  if (!document.hidden) look().catch(() => {});
}, EVERY_MS);
