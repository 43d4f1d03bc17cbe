// A seller made of stock x402 packages, whose payments a facilitator settles. It is reached over plain http by buyers of a
// test, and by others at its public address: both see the same 402.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  HTTPFacilitatorClient,
  type HTTPRequestContext,
  type RoutesConfig,
  x402HTTPResourceServer,
  x402ResourceServer,
} from '@x402/core/server'
import type { SettleResponse } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { bazaarResourceServerExtension } from '@x402/extensions/bazaar'
import type { ReceivedRequest } from './upstream.ts'

export interface StockSeller {
  /** Where buyers of a test reach it. */
  readonly url: string
  /** What the facilitator said of every payment that it settled. */
  readonly settled: readonly SettleResponse[]
  /** Answers a request that came to the public address. */
  respond(request: Pick<ReceivedRequest, 'method' | 'target' | 'headers'>, res: ServerResponse): void
  close(): Promise<void>
}

export async function startStockSeller(options: {
  readonly facilitatorUrl: string
  /** `https://shop.example.com:1234`, without a path. */
  readonly publicUrl: string
  readonly network: `${string}:${string}`
  readonly routes: RoutesConfig
}): Promise<StockSeller> {
  const { publicUrl, network, routes } = options
  const settled: SettleResponse[] = []
  const core = new x402ResourceServer(new HTTPFacilitatorClient({ url: options.facilitatorUrl }))
    .register(network, new ExactEvmScheme())
    .registerExtension(bazaarResourceServerExtension)
    .onAfterSettle(async ({ result }) => void settled.push(result))
  const server = new x402HTTPResourceServer(core, routes)
  await server.initialize()

  async function serve(
    method: string,
    target: string,
    header: (name: string) => string | undefined,
    res: ServerResponse,
  ) {
    const { pathname, searchParams } = new URL(target, publicUrl)
    const context: HTTPRequestContext = {
      adapter: {
        getHeader: (name) => header(name.toLowerCase()),
        getMethod: () => method,
        getPath: () => pathname,
        getUrl: () => publicUrl + target,
        getAcceptHeader: () => 'application/json',
        getUserAgent: () => '',
        getQueryParams: () => Object.fromEntries(searchParams),
      },
      path: pathname,
      method,
      ...(header('payment-signature') !== undefined && { paymentHeader: header('payment-signature')! }),
    }
    const result = await server.processHTTPRequest(context)
    if (result.type === 'payment-error')
      return res
        .writeHead(result.response.status, result.response.headers)
        .end(JSON.stringify(result.response.body ?? {}))
    if (result.type === 'no-payment-required') return res.writeHead(404).end()
    const { paymentPayload, paymentRequirements, declaredExtensions } = result
    const ending = await server.processSettlement(paymentPayload, paymentRequirements, declaredExtensions, {
      request: context,
    })
    return res.writeHead(ending.success ? 200 : 402, ending.headers).end('{"sky":"blue"}')
  }

  const listen = (req: IncomingMessage, res: ServerResponse) =>
    void serve(req.method ?? 'GET', req.url ?? '/', (name) => req.headers[name]?.toString(), res).catch(() =>
      res.writeHead(500).end(),
    )
  const http: Server = createServer(listen)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    settled,
    respond: ({ method, target, headers }, res) =>
      void serve(method, target, (name) => headers.find(([known]) => known === name)?.[1], res).catch(() =>
        res.writeHead(500).end(),
      ),
    close: () => new Promise((resolve) => (http.closeAllConnections(), http.close(() => resolve()))),
  }
}
