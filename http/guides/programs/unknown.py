import json, urllib.request

with urllib.request.urlopen('http://127.0.0.1:8080/v1/settlements?range=7d') as answer:
    history = json.load(answer)
if history['status'] == 'unavailable':
    print('not known now:', history['reason'])
else:
    print(history['summary']['settlementCount'], 'settlements in seven days')
