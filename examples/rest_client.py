# python3 examples/rest_client.py
# The agent calls an API with a capability, with nothing but Python's standard library. CAPABILITY comes from store-credential.ts.
import json
import os
import urllib.request

gateway = os.environ.get("GATEWAY_BASE_URL", "http://localhost:8402")
request = urllib.request.Request(
    f"{gateway}/v1/egress/fetch",
    data=json.dumps(
        {"method": "GET", "url": "https://sandbox.agent-gateway.test/api/whoami"}
    ).encode(),
    headers={
        "Content-Type": "application/json",
        "Authorization": f"Bearer {os.environ['CAPABILITY']}",
    },
)
with urllib.request.urlopen(request) as answer:
    result = json.load(answer)

print(result["upstream"]["status"], result["upstream"]["body"])
print(result["credits"])
print(result["receipt"]["url"])
