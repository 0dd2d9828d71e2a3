let lastId = '';

function follow() {
  const after = lastId === '' ? '' : `&lastEventId=${encodeURIComponent(lastId)}`;
  const source = new EventSource(`/v1/events/stream?category=measurement&unnamed=1${after}`);
  source.addEventListener('position', (message) => {
    lastId = message.lastEventId;
  });
  source.onmessage = (message) => {
    lastId = message.lastEventId;
    console.log(JSON.parse(message.data).type);
  };
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) setTimeout(follow, 3000 + 3000 * Math.random());
  };
}

follow();
