// Somebody else's facilitator, well-behaved or not. What it does to a settlement is one function; what it was sent is kept.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SupportedKind } from '../../schemas/x402.ts'
import { exactKind } from './payment-fakes.ts'

interface FacilitatorCall {
  readonly path: string
  // Tests read what they expect out of it.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
  readonly headers: IncomingMessage['headers']
}

export type FacilitatorBehaviour = (call: FacilitatorCall, res: ServerResponse) => void | Promise<void>

export interface FacilitatorServer {
  readonly url: string
  readonly host: string
  readonly calls: FacilitatorCall[]
  /** Calls of one endpoint. */
  to(path: string): FacilitatorCall[]
  kinds: readonly SupportedKind[]
  onVerify: FacilitatorBehaviour
  onSettle: FacilitatorBehaviour
  close(): Promise<void>
}

export const reply =
  (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): FacilitatorBehaviour =>
  (_call, res) =>
    void res
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(typeof body === 'string' ? body : JSON.stringify(body))

export async function startFacilitator(
  behaviour: Partial<Pick<FacilitatorServer, 'kinds' | 'onVerify' | 'onSettle'>> = {},
): Promise<FacilitatorServer> {
  const calls: FacilitatorCall[] = []
  const server = createServer((req, res) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk as Buffer)
      const text = Buffer.concat(chunks).toString('utf8')
      const call = {
        path: req.url!,
        body: text === '' ? undefined : JSON.parse(text),
        headers: req.headers,
      }
      calls.push(call)
      if (call.path.endsWith('/supported'))
        return reply({ kinds: facilitator.kinds, extensions: [], signers: {} })(call, res)
      if (call.path.endsWith('/verify')) return facilitator.onVerify(call, res)
      if (call.path.endsWith('/settle')) return facilitator.onSettle(call, res)
      return reply({ error: 'not found' }, 404)(call, res)
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const facilitator: FacilitatorServer = {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    calls,
    to: (path) => calls.filter((call) => call.path === path),
    kinds: [exactKind()],
    onVerify: reply({ isValid: true }),
    onSettle: reply({ success: false, errorReason: 'unexpected_settle_error', transaction: '', network: '' }),
    ...behaviour,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return facilitator
}
