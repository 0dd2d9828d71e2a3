import json, urllib.request
from decimal import Decimal, getcontext

getcontext().prec = 90  # Digits of the largest amount, and some.
with urllib.request.urlopen('http://127.0.0.1:8080/v1/events?category=protocol&limit=100') as answer:
    events = json.load(answer)['events']
for event in events:
    if event['type'] == 'system.mining_checkpointed':
        amount, asset = int(event['payload']['amountBaseUnits']), event['payload']['asset']
        print(f"{Decimal(amount).scaleb(-asset['decimals']):f} {asset['symbol']} minted")
