// TXT questions over real sockets to a local server that misbehaves.
import { createSocket } from 'node:dgram'
import { getServers } from 'node:dns'
import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createTxtResolvers } from '../../../src/edge/adapters/txt.ts'
import type { TxtAnswer } from '../../../src/edge/ports.ts'
import { type DnsZone, startDnsServer, type TestDnsServer } from '../../support/dns-server.ts'

const NAME = '_agent-gateway.shop.example.com'
const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function serve(zone: DnsZone | Record<string, DnsZone>, options = {}): Promise<TestDnsServer> {
  const zones = NAME in zone ? (zone as Record<string, DnsZone>) : { [NAME]: zone as DnsZone }
  const dns = await startDnsServer(zones, options)
  closers.push(() => dns.close())
  return dns
}

const ask = (dns: { address: string }, timeoutMs = 5000): Promise<TxtAnswer> =>
  createTxtResolvers([dns.address])[0]!.ask(NAME, timeoutMs)

/** An answer that says nothing: the header and question of the query, with these flags. */
function reply(query: Buffer, flags = 0x8180): Buffer {
  const bytes = Buffer.from(query.subarray(0, query.length - 11))
  bytes.writeUInt16BE(flags, 2)
  bytes.writeUInt16BE(0, 10)
  return bytes
}
/** The same with one TXT record of the asked name. */
function replyWith(query: Buffer, text: string): Buffer {
  const head = reply(query)
  head.writeUInt16BE(1, 6)
  const record = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, text.length + 1, text.length])
  return Buffer.concat([head, record, Buffer.from(text)])
}

describe('a TXT question', () => {
  it('is answered over UDP, with strings joined and the TTL of the zone', async () => {
    const dns = await serve({ TXT: [['v=agw1; ', 'gw=a'], 'other'], ttl: 77 })
    expect(await ask(dns)).toEqual({
      status: 'found',
      records: ['v=agw1; gw=a', 'other'],
      ttlSeconds: 77,
      aliases: 0,
    })
    expect(dns.queries).toEqual([{ name: NAME, type: 'TXT', transport: 'udp' }])
  })
  it('follows an alias and says how many there were', async () => {
    const dns = await serve({
      [NAME]: { CNAME: 'consent.example.net' },
      'consent.example.net': { TXT: ['x'] },
    })
    expect(await ask(dns)).toMatchObject({ status: 'found', records: ['x'], aliases: 1 })
  })
  it.each<[string, DnsZone, TxtAnswer]>([
    ['no such name', { rcode: 3 }, { status: 'absent', ttlSeconds: null, aliases: 0 }],
    ['no such record', {}, { status: 'absent', ttlSeconds: null, aliases: 0 }],
    ['SERVFAIL', { rcode: 2 }, { status: 'failed', reason: 'server_failure' }],
    ['REFUSED', { rcode: 5 }, { status: 'failed', reason: 'server_failure' }],
    ['a loop of aliases', { CNAME: NAME }, { status: 'failed', reason: 'alias_loop' }],
  ])('ends with %s', async (_what, zone, expected) => {
    expect(await ask(await serve(zone))).toEqual(expected)
  })

  it('is asked again over TCP when the answer was cut', async () => {
    const long = Array.from({ length: 8 }, () => 'x'.repeat(200))
    const dns = await serve({ TXT: [long] })
    expect(await ask(dns)).toMatchObject({ status: 'found', records: ['x'.repeat(1600)] })
    expect(dns.queries.map(({ transport }) => transport)).toEqual(['udp', 'tcp'])
  })
  it('fails when the answer was cut and TCP is refused', async () => {
    const dns = await serve({ TXT: ['x'], raw: (query) => [reply(query, 0x8380)] }, { tcp: false })
    expect(await ask(dns)).toEqual({ status: 'failed', reason: 'server_failure' })
  })
  it('fails when the answer was cut over TCP too', async () => {
    const dns = await serve({ raw: (query) => [reply(query, 0x8380)] })
    expect(await ask(dns)).toEqual({ status: 'failed', reason: 'too_large' })
  })
  it('fails when the answer is larger than 4 KB', async () => {
    const dns = await serve({ TXT: [Array.from({ length: 17 }, () => 'x'.repeat(255))] })
    expect(await ask(dns)).toEqual({ status: 'failed', reason: 'too_large' })
  })
  it('fails when TCP brings something else than an answer', async () => {
    const raw: DnsZone['raw'] = (query, transport) => [
      transport === 'udp' ? reply(query, 0x8380) : Buffer.from('not a message'),
    ]
    expect(await ask(await serve({ raw }))).toEqual({ status: 'failed', reason: 'malformed' })
  })
  it('takes an answer over TCP that comes byte by byte, and fails when it ends in between', async () => {
    for (const [drop, expected] of [
      [0, { status: 'found', records: ['slow'], ttlSeconds: 60, aliases: 0 }],
      [1, { status: 'failed', reason: 'malformed' }],
    ] as [number, TxtAnswer][]) {
      const dns = await serve({ raw: (query) => [reply(query, 0x8380)] }, { tcp: false })
      const tcp = createServer((socket) => {
        socket.on('error', () => {})
        socket.once('data', (chunk) => {
          const answer = replyWith(chunk.subarray(2), 'slow')
          const framed = Buffer.concat([Buffer.from([0, answer.length]), answer])
          const bytes = [...framed.subarray(0, framed.length - drop)]
          const next = () => {
            const byte = bytes.shift()
            if (byte === undefined) socket.end()
            else socket.write(Buffer.from([byte]), () => setImmediate(next))
          }
          next()
        })
      })
      await new Promise<void>((resolve) => tcp.listen(dns.port, '127.0.0.1', resolve))
      closers.push(() => new Promise((resolve) => void tcp.close(() => resolve())))
      expect(await ask(dns)).toEqual(expected)
    }
  })

  it('waits on when something comes that does not repeat the question', async () => {
    const raw: DnsZone['raw'] = (query) => {
      const wrongId = replyWith(query, 'forged')
      wrongId.writeUInt16BE(query.readUInt16BE(0) ^ 1, 0)
      const wrongName = replyWith(query, 'forged')
      wrongName[14]! ^= 1
      const echo = Buffer.from(query)
      return [Buffer.alloc(0), Buffer.from('garbage'), wrongId, wrongName, echo, replyWith(query, 'true')]
    }
    expect(await ask(await serve({ raw }))).toMatchObject({ status: 'found', records: ['true'] })
  })
  it('takes no answer from another address or port', async () => {
    const forger = createSocket('udp4')
    await new Promise<void>((resolve) => forger.bind(0, '127.0.0.1', resolve))
    closers.push(() => new Promise((resolve) => forger.close(() => resolve())))
    const server = createSocket('udp4')
    await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve))
    closers.push(() => new Promise((resolve) => server.close(() => resolve())))
    server.on('message', (query, { port, address }) => {
      // The forgery is on its way before the answer is.
      forger.send(replyWith(query, 'forged'), port, address, () =>
        server.send(replyWith(query, 'true'), port, address),
      )
    })
    const answer = await ask({ address: `127.0.0.1:${server.address().port}` })
    expect(answer).toMatchObject({ status: 'found', records: ['true'] })
  })
  it('fails with garbage under the right id', async () => {
    const raw: DnsZone['raw'] = (query) => {
      const head = reply(query)
      head.writeUInt16BE(3, 6)
      return [Buffer.concat([head, Buffer.from([0xc0, 0xff, 0xff, 1, 2, 3])])]
    }
    expect(await ask(await serve({ raw }))).toEqual({ status: 'failed', reason: 'malformed' })
  })
  it('is not answered by who says nothing, within the time there is', async () => {
    const dns = await serve({ silent: true })
    expect(await ask(dns, 200)).toEqual({ status: 'failed', reason: 'timeout' })
    expect(dns.queries).toHaveLength(1)
  })
  it('is sent a second time when the first was lost', async () => {
    let before = 0
    const dns = await serve({ raw: (query) => (before++ === 0 ? [] : [replyWith(query, 'second')]) })
    expect(await ask(dns)).toMatchObject({ records: ['second'] })
    expect(dns.queries).toHaveLength(2)
  })
  it('has an id that nobody can tell from the one before', async () => {
    const ids: number[] = []
    const dns = await serve({ raw: (query) => (ids.push(query.readUInt16BE(0)), [replyWith(query, 'x')]) })
    for (let i = 0; i < 20; i++) await ask(dns)
    // One step for all of them would be a counter, or no choice at all.
    expect(new Set(ids.slice(1).map((id, i) => (id - ids[i]!) & 0xffff)).size).toBeGreaterThan(10)
  })
  it('fails at once where nobody listens', async () => {
    const dns = await serve({})
    await closers.pop()!()
    expect(await ask(dns)).toEqual({ status: 'failed', reason: 'server_failure' })
  })
  it('fails where nobody can listen', async () => {
    expect(await ask({ address: '127.0.0.1:0' })).toEqual({ status: 'failed', reason: 'server_failure' })
  })
  it('is not asked about a name that DNS cannot hold', async () => {
    const dns = await serve({})
    const [resolver] = createTxtResolvers([dns.address])
    expect(await resolver!.ask(`${'a'.repeat(64)}.example.com`, 1000)).toMatchObject({ status: 'absent' })
    expect(dns.queries).toEqual([])
  })
})

describe('many questions', () => {
  it('about one name at the same time are one question, and the next one is another', async () => {
    const dns = await serve({ TXT: ['x'] })
    const [resolver] = createTxtResolvers([dns.address])
    const answers = await Promise.all(Array.from({ length: 20 }, () => resolver!.ask(NAME, 5000)))
    expect(answers).toEqual(Array.from({ length: 20 }, () => answers[0]))
    expect(dns.queries).toHaveLength(1)
    await resolver!.ask(NAME, 5000)
    expect(dns.queries).toHaveLength(2)
  })
  it('are under way 256 at a time, and the others wait their turn', async () => {
    const held: (() => void)[] = []
    let most = 0
    let isOpen = false
    const server = createSocket('udp4')
    const marker = createSocket('udp4')
    closers.push(() => new Promise((resolve) => marker.close(() => resolve())))
    server.on('message', (query, { port, address }) => {
      if (query.toString() === 'marker') {
        // Whoever could ask has asked: only now is anybody answered.
        isOpen = true
        for (const answer of held.splice(0)) answer()
        return
      }
      const answer = () => server.send(replyWith(query, 'x'), port, address)
      if (isOpen) return answer()
      held.push(answer)
      most = held.length
      if (most === 256) setImmediate(() => marker.send('marker', server.address().port, '127.0.0.1'))
    })
    await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve))
    server.setRecvBufferSize(4 * 1024 * 1024)
    closers.push(() => new Promise((resolve) => server.close(() => resolve())))
    const [resolver] = createTxtResolvers([`127.0.0.1:${server.address().port}`])
    const answers = Array.from({ length: 300 }, (_, i) => resolver!.ask(`n${i}.example.com`, 5000))
    expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set(['found']))
    expect(most).toBe(256)
  })
})

describe('resolvers', () => {
  it.each<[string, string]>([
    ['192.0.2.1', '192.0.2.1:53'],
    ['192.0.2.1:5353', '192.0.2.1:5353'],
    ['2001:db8::1', '[2001:db8::1]:53'],
    ['[2001:db8::1]:5353', '[2001:db8::1]:5353'],
  ])('are named by address and port: %s', (text, name) => {
    expect(createTxtResolvers([text]).map((each) => each.name)).toEqual([name])
  })
  it('count once each', () => {
    expect(createTxtResolvers(['192.0.2.1', '192.0.2.1:53', '192.0.2.2'])).toHaveLength(2)
  })
  it("are the system's where none is configured", () => {
    expect(createTxtResolvers([])).toHaveLength(new Set(getServers()).size)
  })
})
