import { Resolver } from 'node:dns/promises'
import { request } from 'node:https'
import { afterAll, expect, test } from 'vitest'
import { createTestCa } from '../../support/ca.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { startRawUpstream, startUpstream } from '../../support/upstream.ts'

const closers: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closers) await close()
})

function get(port: number, ca: string, name = 'api.example.com'): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, servername: name, ca, path: '/x', agent: false }, (res) => {
      let text = ''
      res.on('data', (chunk) => (text += chunk)).on('end', () => resolve(`${res.statusCode} ${text}`))
    })
      .on('error', reject)
      .end()
  })
}

test('a client that trusts the test root reaches the test upstreams by name', async () => {
  const ca = await createTestCa()
  const leaf = await ca.leaf('api.example.com', '127.0.0.1')
  const upstream = await startUpstream(leaf)
  closers.push(() => upstream.close())
  expect(await get(upstream.port, ca.pem)).toBe('200 {"ok":true}')
  expect(upstream.requests[0]).toMatchObject({ method: 'GET', target: '/x', servername: 'api.example.com' })

  const raw = await startRawUpstream(leaf, (socket) => socket.end('HTTP/1.1 204 Fine\r\n\r\n'))
  closers.push(() => raw.close())
  expect(await get(raw.port, ca.pem)).toBe('204 ')
  expect(raw.requests).toHaveLength(1)
  await expect(get(upstream.port, ca.pem, 'other.example.com')).rejects.toThrow()
})

test('the test DNS server answers what it was told, over UDP and TCP', async () => {
  const dns = await startDnsServer({
    'a.example.com': { A: ['192.0.2.1'], AAAA: ['2001:db8::1', '::ffff:10.0.0.1'] },
    'alias.example.com': { CNAME: 'a.example.com' },
    'many.example.com': { A: Array.from({ length: 60 }, (_, i) => `192.0.2.${i}`) },
    'broken.example.com': { rcode: 2 },
  })
  closers.push(() => dns.close())
  const resolver = new Resolver({ timeout: 60_000, tries: 1 })
  resolver.setServers([dns.address])
  expect(await resolver.resolve4('a.example.com')).toEqual(['192.0.2.1'])
  expect(await resolver.resolve6('a.example.com')).toEqual(['2001:db8::1', '::ffff:10.0.0.1'])
  expect(await resolver.resolve4('alias.example.com')).toEqual(['192.0.2.1'])
  expect(await resolver.resolve4('many.example.com')).toHaveLength(60)
  expect(dns.queries.some((query) => query.transport === 'tcp')).toBe(true)
  await expect(resolver.resolve4('broken.example.com')).rejects.toMatchObject({ code: 'ESERVFAIL' })
  await expect(resolver.resolve4('absent.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' })
})
