import { expect, it } from 'vitest'
import { withoutQuery } from '../../../src/payments/receipt.ts'

it.each([
  ['https://shop.example/report?user=7#top', 'shop.example/report'],
  ['https://user:secret@shop.example:8443/a', 'shop.example:8443/a'],
  ['mcp://tool/gateway.web.fetch?key=1', 'tool/gateway.web.fetch'],
  ['urn:agent-gateway:gateway.web.fetch?key=1', 'urn:agent-gateway:gateway.web.fetch'],
  ['/relative/path?key=1', '/relative/path'],
  ['not a url#x', 'not a url'],
  ['', ''],
])('a receipt names %s as %s', (resource, named) => {
  expect(withoutQuery(resource)).toBe(named)
})
