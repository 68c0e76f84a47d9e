// Follows a document: its iterations as they end, then the page with the result. Words are only
// ever set as text.
const region = document.querySelector("[data-follow]");
const list = region.querySelector("[data-iterations]");
const line = region.querySelector("[data-status-line]");
const open = new Set(region.dataset.open.split(" "));
let seen = Number(region.dataset.seen);

async function follow() {
  for (;;) {
    const response = await fetch(`${region.dataset.follow}?wait=30&seen=${seen}`, {
      headers: { Accept: "application/json" },
    });
    if (!response.ok) throw new Error(response.statusText);
    const { status, progress } = await response.json();
    for (const { type, iteration, score } of progress.slice(seen)) {
      const step = document.createElement("li");
      const kind = type.charAt(0).toUpperCase() + type.slice(1).replaceAll("-", " ");
      step.textContent = `${kind}, iteration ${iteration}: score ${score.toFixed(3)}`;
      list.append(step);
      line.textContent = step.textContent;
    }
    seen = Math.max(seen, progress.length);
    if (!open.has(status)) return;
    await new Promise((done) => setTimeout(done, 250));
  }
}

try {
  await follow();
  location.reload();
} catch {
  setTimeout(() => location.reload(), 2000);
}
