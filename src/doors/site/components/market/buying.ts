// One call of a service in the ways that people make it, filled with the example of its listing. What a seller wrote stands inside
// quotes of the language in which it is shown, and nowhere else.
import type { MarketDetail, MarketService } from '../../../../../schemas/market.ts'
import type { Addresses } from '../../../../core/config.ts'
import { visibleCode } from './format.ts'
import { exampleUrl } from '../../../../market/listings/shape.ts'

export interface WayToBuy {
  readonly id: 'curl' | 'x402' | 'mcp' | 'a2a'
  readonly code: string
}

/** @param route of the service that is called */
export function waysToBuy(
  { service, network }: Pick<MarketDetail, 'service' | 'network'>,
  route: MarketService['routes'][number],
  { mcpUrl, baseUrl }: Pick<Addresses, 'mcpUrl' | 'baseUrl'>,
): readonly WayToBuy[] {
  const url = exampleUrl(route, service.endpoint)
  const path = exampleUrl({ path: route.path, example: inPathOnly(route) }, '/')
  const input = {
    seller: service.seller,
    service_id: service.service_id,
    ...(route.path !== '/' && { path, method: route.method }),
    ...(Object.keys(inQueryOnly(route)).length > 0 && { query: inQueryOnly(route) }),
    ...(route.example?.body !== undefined && { body: route.example.body }),
    ...(network === 'eip155:84532' && { testnet: true }),
  }
  const mcp = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'gateway_marketplace_call', arguments: input },
  }
  const a2a = {
    jsonrpc: '2.0',
    id: 1,
    method: 'SendMessage',
    params: {
      message: {
        messageId: 'buy-1',
        role: 'ROLE_USER',
        parts: [{ data: { skill: 'marketplace-call', input } }],
      },
    },
  }
  const ways: readonly WayToBuy[] = [
    { id: 'curl', code: service.curl },
    { id: 'x402', code: payingFetch(url, route) },
    { id: 'mcp', code: `POST ${mcpUrl}\n\n${JSON.stringify(mcp, undefined, 2)}` },
    { id: 'a2a', code: `POST ${baseUrl}/a2a\n\n${JSON.stringify(a2a, undefined, 2)}` },
  ]
  return ways.map(({ id, code }) => ({ id, code: visibleCode(code) }))
}

const namesInPath = ({ path }: Pick<MarketService['routes'][number], 'path'>) =>
  new Set([...path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name ?? ''))

const inPathOnly = (route: MarketService['routes'][number]) => ({ query: pick(route, true) })
const inQueryOnly = (route: MarketService['routes'][number]) => pick(route, false)

function pick(route: MarketService['routes'][number], isInPath: boolean): Record<string, unknown> {
  const names = namesInPath(route)
  return Object.fromEntries(
    Object.entries(route.example?.query ?? {}).filter(([name]) => names.has(name) === isInPath),
  )
}

function payingFetch(url: string, route: MarketService['routes'][number]): string {
  const body = route.example?.body
  const options = [
    ...(route.method === 'GET' ? [] : [`method: '${route.method}'`]),
    ...(body === undefined
      ? []
      : ["headers: { 'content-type': 'application/json' }", `body: JSON.stringify(${JSON.stringify(body)})`]),
  ]
  return [
    '// npm install @x402/fetch @x402/evm viem',
    "import { env } from 'node:process'",
    "import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'",
    "import { ExactEvmScheme } from '@x402/evm'",
    "import { privateKeyToAccount } from 'viem/accounts'",
    '',
    '// The wallet that pays. Its key stays with you.',
    'const account = privateKeyToAccount(env.PRIVATE_KEY as `0x${string}`)',
    'const payingFetch = wrapFetchWithPaymentFromConfig(fetch, {',
    "  schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(account) }],",
    '})',
    '',
    `const answer = await payingFetch(${JSON.stringify(url)}${options.length === 0 ? '' : `, { ${options.join(', ')} }`})`,
    'console.log(await answer.text())',
  ].join('\n')
}
