import { describe, expect, it } from 'vitest'
import {
  createRouteLabels,
  mcpMethodLabel,
  methodLabel,
  OTHER,
  purposeLabel,
  statusLabel,
} from '../../../src/telemetry/labels.ts'

describe('labels', () => {
  it.each([
    ['GET', 'GET'],
    ['get', OTHER],
    ['BREW', OTHER],
    [undefined, OTHER],
  ])('of the method %s: %s', (method, label) => {
    expect(methodLabel(method)).toBe(label)
  })

  it.each([
    ['tools/list', 'tools/list'],
    ['tools/list ', OTHER],
    ['agw_sk_1', OTHER],
    [7, OTHER],
  ])('of the MCP method %s: %s', (method, label) => {
    expect(mcpMethodLabel(method)).toBe(label)
  })

  it.each([
    [200, 200],
    [422, 422],
    [503, 503],
    [299, OTHER],
    [555, OTHER],
    [600, OTHER],
    [99, OTHER],
  ])('of the status %s: %s', (status, label) => {
    expect(statusLabel(status)).toBe(label)
  })

  it.each([
    ['cred_01J', 'credential'],
    ['cred_01J v2', 'credential'],
    ['market sel_01J', 'market'],
    ['market-probes', 'market'],
    ['notifications tgt_1', 'notification'],
    ['outcomes', 'source'],
  ])('of the partition %s: %s', (partition, label) => {
    expect(purposeLabel(partition)).toBe(label)
  })
})

describe('the label of a route', () => {
  const label = createRouteLabels([
    '/',
    '/healthz',
    '/v1/receipts/{receipt_id}',
    '/v1/receipts/{receipt_id}/status',
    '/v1/a.b/{id}',
    '/p/*',
    '/a2a',
    '/a2a/*',
  ])

  it.each([
    ['/', '/'],
    ['/healthz', '/healthz'],
    ['/healthz/', OTHER],
    ['/v1/receipts/rcp_1', '/v1/receipts/{receipt_id}'],
    ['/v1/receipts/rcp_1/status', '/v1/receipts/{receipt_id}/status'],
    ['/v1/receipts/rcp_1/other', OTHER],
    ['/v1/receipts/', OTHER],
    ['/v1/axb/1', OTHER],
    ['/v1/a.b/1', '/v1/a.b/{id}'],
    ['/p/seller/service/more', '/p/*'],
    ['/a2a', '/a2a'],
    ['/a2a/rest/x', '/a2a/*'],
    ['/%2e%2e/secret', OTHER],
    ['', OTHER],
  ])('%s is %s', (path, expected) => {
    expect(label(path)).toBe(expected)
  })
})
