// Documents that change with what sellers offer: `/.well-known/x402`, and each seller's OpenAPI document and llms.txt.
import { llmsOfSeller, openApiOfSeller } from '../../documents/seller.ts'
import { sendPublicText } from '../http/document.ts'
import type { DoorParts } from '../parts.ts'
import type { Exchange, Handler, Resource } from '../http/resource.ts'

const JSON_TYPE = 'application/json'
const TEXT = 'text/plain; charset=utf-8'

export function sellerDocuments({ documents, marketplace, addresses }: DoorParts): Resource[] {
  const manifest = open('/.well-known/x402', async (exchange) => {
    const services = (await marketplace?.sold()) ?? []
    await send(exchange, JSON_TYPE, JSON.stringify(documents.x402(services)))
  })
  if (!marketplace) return [manifest]
  return [
    manifest,
    open('/p/{seller}/openapi.json', async (exchange) => {
      const seller = await marketplace.ofSeller(exchange.params['seller'] ?? '')
      await send(exchange, JSON_TYPE, JSON.stringify(openApiOfSeller(seller, addresses)))
    }),
    open('/p/{seller}/llms.txt', async (exchange) => {
      const seller = await marketplace.ofSeller(exchange.params['seller'] ?? '')
      await send(exchange, TEXT, llmsOfSeller(seller, addresses))
    }),
  ]
}

const open = (path: string, GET: Handler): Resource => ({ path, open: 'public', methods: { GET } })

const send = ({ req, res, context }: Exchange, type: string, text: string): Promise<void> =>
  sendPublicText(req, res, {
    text,
    headers: {
      'content-type': type,
      'cache-control': 'public, max-age=60',
      'x-content-type-options': 'nosniff',
      'x-request-id': context.requestId,
    },
    isTagged: true,
    isForEverybody: true,
  })
