import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createBridge } from '../../../src/doors/mcp/bridge.ts'

/** What a client on stdio is answered where the gateway answers so over HTTP. */
async function bridged(message: object, status: number, body: object): Promise<unknown> {
  const server = createServer((_req, res) =>
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stdin = new PassThrough()
  const stdout = new PassThrough({ encoding: 'utf8' })
  const run = createBridge({ url: new URL(`http://127.0.0.1:${port}/mcp`), token: undefined, stdout }).run(
    stdin,
  )
  stdin.end(`${JSON.stringify(message)}\n`)
  await run
  server.closeAllConnections()
  server.close()
  return JSON.parse(String(stdout.read()))
}

const problem = { code: 'capability_required', status: 401, detail: 'Send the capability' }
const refused = { jsonrpc: '2.0', id: 7, error: { code: -32600, message: problem.detail, data: problem } }
const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'gateway_egress_fetch' } }

describe('the bridge of stdio', () => {
  it('hands a call that wants a sign-in to the model, which alone can do something about it there', async () => {
    expect(await bridged(call, 401, refused)).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: {
        content: [{ type: 'text', text: JSON.stringify(problem) }],
        structuredContent: problem,
        isError: true,
      },
    })
  })

  it('ends it as revision 2026 ends results, where the client speaks that', async () => {
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
    const answer = await bridged({ ...call, params: { ...call.params, _meta } }, 401, refused)
    expect(answer).toMatchObject({ result: { isError: true, resultType: 'complete' } })
  })

  it.each([
    ['another method', { ...call, method: 'tools/list' }, refused],
    ['an error of another kind', call, { ...refused, error: { code: -32602, message: 'Unknown tool' } }],
  ])('passes %s on as it is', async (_what, message, body) => {
    expect(await bridged(message, 401, body)).toEqual(body)
  })
})
