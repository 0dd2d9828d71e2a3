"""Reads bodies with clients that openapi-python-client has generated: parseBodies.py PACKAGE_FOLDER CASES. Each operation is called as its users would."""

import datetime
import importlib
import inspect
import json
import pkgutil
import sys

import httpx

folder, cases = sys.argv[1:]
sys.path.insert(0, folder)
import service

arguments = {'address': '0x' + '1' * 40, 'owner': '0x' + '1' * 40, 'installation_id': 'wheel.local', 'token_id': '1'}


def find_argument(module, name):
    """An argument of an operation: a date, a text, or the first value of an enumeration."""
    if name in arguments:
        return arguments[name]
    kind = inspect.get_annotations(module.sync_detailed, eval_str=True)[name]
    if kind is datetime.date:
        return datetime.date(2026, 1, 31)
    return '1' if kind is str else list(kind)[0]


operations = {
    module.name.split('.')[-1].replace('_', ''): importlib.import_module(module.name)
    for module in pkgutil.walk_packages(service.__path__, 'service.')
    if '.api.' in module.name and not module.ispkg
}
parsed = 0
with open(cases) as file:
    for case in json.load(file):
        module = operations[case['operation'].lower()]
        client = service.Client(base_url='http://service')
        answer = httpx.MockTransport(lambda _: httpx.Response(200, json=case['body']))
        client.set_httpx_client(httpx.Client(base_url='http://service', transport=answer))
        needed = [
            name
            for name, parameter in inspect.signature(module.sync_detailed).parameters.items()
            if parameter.default is inspect.Parameter.empty and name != 'client'
        ]
        body = module.sync_detailed(client=client, **{name: find_argument(module, name) for name in needed}).parsed
        assert type(body).__name__ != 'ErrorBody' and body.to_dict().keys() == case['body'].keys(), case['operation']
        parsed += 1
print(parsed)
