from service import Client
from service.api.settlement import get_status

status = get_status.sync(client=Client(base_url='http://127.0.0.1:8080'))
print(status.measurement.cumulative_work_units if status.measurement else 'no', 'work units')
