// A request to /mcp as a client of either era sends it, and what came back.
const PREFIX = 'io.modelcontextprotocol'

export interface Answered {
  readonly status: number
  readonly headers: Headers
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- whatever came back is what is tested
  readonly json: Record<string, any>
}
export type Ask = (
  method: string,
  params?: Readonly<Record<string, unknown>>,
  options?: { readonly query?: string; readonly headers?: Readonly<Record<string, string>> },
) => Promise<Answered>

async function post(
  url: string,
  message: object,
  headers: Readonly<Record<string, string>>,
): Promise<Answered> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(message),
  })
  const text = await response.text()
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text
  const json = (data === '' ? {} : JSON.parse(data)) as Answered['json']
  return { status: response.status, headers: response.headers, json }
}

/** @param url of `/mcp`, asked for at each request: it is known only when the gateway runs */
export const asIn2025 =
  (url: () => string): Ask =>
  (method, params = {}, { query = '', headers = {} } = {}) =>
    post(url() + query, { jsonrpc: '2.0', id: 1, method, params }, headers)

export const asIn2026 =
  (url: () => string): Ask =>
  (method, params = {}, { query = '', headers = {} } = {}) => {
    const _meta = { [`${PREFIX}/protocolVersion`]: '2026-07-28', [`${PREFIX}/clientCapabilities`]: {} }
    const given = params['_meta'] as object | undefined
    const named = typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {}
    return post(
      url() + query,
      { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ..._meta, ...given } } },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...named, ...headers },
    )
  }

/** `initialize` of 2025; the answer's headers have the session id. */
export const initialize = (ask: Ask, client = 'test', options: Parameters<Ask>[2] = {}): Promise<Answered> =>
  ask(
    'initialize',
    { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: client, version: '1' } },
    options,
  )

export const namesIn = ({ json }: Answered): string[] =>
  (json['result'] as { tools: { name: string }[] }).tools.map(({ name }) => name)
