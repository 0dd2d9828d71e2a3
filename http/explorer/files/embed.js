// Shows the newest state in the frame. The page is not loaded again, which would move the focus and be read aloud from the top.
setInterval(async () => {
  if (document.hidden || document.activeElement !== document.body) return;
  const response = await fetch(location.href).catch(() => null);
  if (!response?.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  document.querySelector('main').replaceWith(page.querySelector('main'));
}, 60_000);
