// One JSON-RPC request as it goes over the wire, to a door of a running gateway.

/**
 * @param url of the door
 * @returns the answer as it came, also one that is an error
 */
export async function sendRpc(
  url: string,
  method: string,
  params: unknown,
  headers: Record<string, string> = {},
) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  // oxlint-disable-next-line typescript/no-explicit-any -- a wrong shape fails the test
  return (await answer.json()) as any
}
