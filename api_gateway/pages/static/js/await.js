// Waits until what the page names has ended: then asks again where the reader wished that, else
// shows the page anew.
const region = document.querySelector("[data-await]");
const line = region.querySelector("[data-status-line]");
const open = new Set(region.dataset.open.split(" "));
// Once: who comes back to this page from the next one wants to read it.
const asksAgain =
  new URLSearchParams(location.search).has("refresh") && !sessionStorage.getItem(location.href);

async function settled(address) {
  for (;;) {
    const response = await fetch(`${address}?wait=30`, { headers: { Accept: "application/json" } });
    if (!response.ok) return;
    const { status } = await response.json();
    if (!open.has(status)) return;
    await new Promise((done) => setTimeout(done, 250));
  }
}

const addresses = region.dataset.await.split(" ").filter(Boolean);
try {
  await Promise.all(addresses.map(settled));
  if (line) line.textContent = "Done";
  const form = document.querySelector("#again");
  if (asksAgain && form) {
    sessionStorage.setItem(location.href, "asked again");
    form.requestSubmit();
  } else if (addresses.length > 0) {
    location.reload();
  }
} catch {
  setTimeout(() => location.reload(), 2000);
}
