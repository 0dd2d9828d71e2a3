const answer = await fetch('http://127.0.0.1:8080/v1/settlements?range=7d');
const history = await answer.json();
if (history.status === 'unavailable') console.log('not known now:', history.reason);
else console.log(`${history.summary.settlementCount} settlements in seven days`);
