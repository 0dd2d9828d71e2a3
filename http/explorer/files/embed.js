// Shows the newest state in the frame. The page is not loaded again, which would move the focus and be read aloud from the top.
setInterval(async () => {
  if (document.hidden || document.activeElement !== document.body) return;
  const main = document.querySelector('main');
  try {
    const response = await fetch(location.href);
    if (!response.ok) throw new Error(response.statusText);
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    main.replaceWith(page.querySelector('main'));
  } catch {
    main.textContent = 'The state of the wheel is unknown: the service does not answer.';
  }
}, 60_000);
