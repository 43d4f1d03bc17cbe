import { afterEach, describe, expect, test } from 'vitest'
import { createResolver } from '../../../src/egress/adapters/dns.ts'
import { ResolveError } from '../../../src/egress/ports.ts'
import { type DnsZone, startDnsServer } from '../../support/dns-server.ts'
import { cites } from '../../requirements.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function resolve(
  zone: DnsZone | undefined,
  more: Record<string, DnsZone> = {},
  timeoutMs = 4000,
): Promise<unknown> {
  const dns = await startDnsServer({ ...more, ...(zone ? { 'api.example.com': zone } : {}) })
  closers.push(() => dns.close())
  try {
    return await createResolver([dns.address]).resolve('api.example.com', timeoutMs)
  } catch (thrown) {
    if (!(thrown instanceof ResolveError)) throw thrown
    return thrown.reason
  }
}

test(cites('egress:dns:families', 'gives every address of both families, and each once'), async () => {
  expect(await resolve({ A: ['192.0.2.1', '192.0.2.2', '192.0.2.1'], AAAA: ['2001:db8::1'] })).toEqual([
    '192.0.2.1',
    '192.0.2.2',
    '2001:db8::1',
  ])
})
test(cites('egress:dns:alias', 'follows an alias to the addresses behind it'), async () => {
  expect(await resolve({ CNAME: 'b.example.com' }, { 'b.example.com': { A: ['10.0.0.1'] } })).toEqual([
    '10.0.0.1',
  ])
})
test(cites('egress:dns:truncated', 'takes an answer that is too long for a datagram whole'), async () => {
  const A = Array.from({ length: 100 }, (_, i) => `192.0.2.${i}`)
  expect(await resolve({ A })).toHaveLength(100)
})

describe('refuses the whole name', () => {
  test.each([
    ['that does not exist', undefined, 'not_found'],
    ['that has no address', {}, 'not_found'],
    ['when one family fails', { A: ['192.0.2.1'], rcode: 2, types: ['AAAA'] }, 'server_failure'],
    ['when the other family fails', { AAAA: ['2001:db8::1'], rcode: 5, types: ['A'] }, 'server_failure'],
    ['when the server fails', { rcode: 2 }, 'server_failure'],
  ] as [string, DnsZone | undefined, string][])('%s', async (_what, zone, reason) => {
    expect(await resolve(zone)).toBe(reason)
  })
  test(cites('egress:dns:whole', 'when one family is not answered in time'), async () => {
    expect(await resolve({ A: ['192.0.2.1'], silent: true, types: ['AAAA'] }, {}, 300)).toBe('timeout')
  })
})

test('asks the system when no server is configured', async () => {
  const addresses = await createResolver([]).resolve('localhost', 4000)
  expect(addresses).toContain('127.0.0.1')
})
