// An authoritative-looking DNS server on 127.0.0.1, UDP and TCP on one port, whose answers a test programs.
import { type Socket as UdpSocket, createSocket } from 'node:dgram'
import { type AddressInfo, type Socket, createServer } from 'node:net'

export const DNS_TYPES = { A: 1, NS: 2, CNAME: 5, MX: 15, TXT: 16, AAAA: 28 } as const
export type DnsType = keyof typeof DNS_TYPES

/** What one name answers. A type that is not listed answers NODATA; a name that is not set answers NXDOMAIN. */
export interface DnsZone {
  readonly A?: readonly string[]
  readonly AAAA?: readonly string[]
  readonly CNAME?: string
  readonly MX?: readonly (readonly [preference: number, exchange: string])[]
  /** One entry per record; an array is one record of several strings. */
  readonly TXT?: readonly (string | readonly string[])[]
  /** Seconds; 0 unless given, so that what a test sets next is seen at once. */
  readonly ttl?: number
  /** Instead of an answer: 2 is SERVFAIL, 3 NXDOMAIN, 5 REFUSED. Limited to these types when `types` is given. */
  readonly rcode?: number
  /** Never answer. */
  readonly silent?: boolean
  readonly types?: readonly DnsType[]
  /** Messages to send in place of an answer, in this order; what they say is the test's business. */
  readonly raw?: (query: Buffer, transport: DnsQuery['transport']) => readonly Buffer[]
}

export interface DnsQuery {
  readonly name: string
  readonly type: string
  readonly transport: 'udp' | 'tcp'
}

export interface TestDnsServer {
  /** `127.0.0.1:port`, as GATEWAY_DNS_SERVERS takes it. */
  readonly address: string
  readonly port: number
  readonly queries: readonly DnsQuery[]
  /** @param zone a function is asked once per query, with how many queries of that name and type came before */
  set(name: string, zone: DnsZone | ((type: string, before: number) => DnsZone)): void
  close(): Promise<void>
}

/** @param options.tcp false: connections are refused, so what does not fit a datagram is told to nobody */
export async function startDnsServer(
  zones: Readonly<Record<string, DnsZone>> = {},
  options: { readonly tcp?: boolean } = {},
): Promise<TestDnsServer> {
  const names = new Map<string, DnsZone | ((type: string, before: number) => DnsZone)>(Object.entries(zones))
  const queries: DnsQuery[] = []
  const asked = new Map<string, number>()

  function answer(message: Buffer, transport: DnsQuery['transport']): readonly Buffer[] {
    const question = readQuestion(message)
    const type = Object.entries(DNS_TYPES).find(([, code]) => code === question.type)?.[0] ?? 'OTHER'
    const name = question.name.toLowerCase()
    const before = asked.get(`${name} ${type}`) ?? 0
    asked.set(`${name} ${type}`, before + 1)
    queries.push({ name, type, transport })
    const entry = names.get(name)
    const zone = typeof entry === 'function' ? entry(type, before) : entry
    const applies = zone?.types === undefined || zone.types.includes(type as DnsType)
    if (zone?.silent && applies) return []
    if (zone?.raw && applies) return zone.raw(message, transport)
    const rcode = zone === undefined ? 3 : applies ? (zone.rcode ?? 0) : 0
    const records = zone === undefined || rcode !== 0 ? [] : chase(name, type, zone, names)
    const header = Buffer.alloc(12)
    message.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8580 | rcode, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(records.length, 6)
    const full = Buffer.concat([header, message.subarray(12, question.end), ...records])
    if (transport === 'tcp' || full.length <= 512) return [full]
    // Too long for a datagram: say so (TC) and let the client come back over TCP.
    header.writeUInt16BE(0x8780, 2)
    header.writeUInt16BE(0, 6)
    return [Buffer.concat([header, message.subarray(12, question.end)])]
  }

  const sockets = new Set<Socket>()
  const tcp = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    let pending = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk])
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0)
        const replies = answer(pending.subarray(2, end), 'tcp')
        pending = pending.subarray(end)
        for (const reply of replies) {
          const length = Buffer.alloc(2)
          length.writeUInt16BE(reply.length)
          socket.write(Buffer.concat([length, reply]))
        }
      }
    })
  })
  // UDP and TCP must share a port: take a free TCP one, and try again in the rare case that its UDP twin is taken.
  let udp: UdpSocket | undefined
  for (let tries = 0; udp === undefined; tries++) {
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve))
    try {
      udp = await bindUdp((tcp.address() as AddressInfo).port)
    } catch (thrown) {
      if (tries === 9) throw thrown
      await new Promise((resolve) => tcp.close(resolve))
    }
  }
  const datagrams = udp
  datagrams.on('message', (message, peer) => {
    for (const reply of answer(message, 'udp')) datagrams.send(reply, peer.port, peer.address)
  })

  const { port } = datagrams.address()
  if (options.tcp === false) await new Promise((resolve) => tcp.close(resolve))
  return {
    address: `127.0.0.1:${port}`,
    port,
    queries,
    set: (name, zone) => void names.set(name.toLowerCase(), zone),
    async close() {
      for (const socket of sockets) socket.destroy()
      await Promise.all([
        new Promise((resolve) => tcp.close(resolve)),
        new Promise<void>((resolve) => datagrams.close(resolve)),
      ])
    },
  }
}

function bindUdp(port: number): Promise<UdpSocket> {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4')
    socket.once('error', reject)
    socket.bind(port, '127.0.0.1', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at + 1), end: at + 5 }
}

/** Records of a name, CNAMEs followed within the programmed zones as a recursive resolver would. */
function chase(
  name: string,
  type: string,
  zone: DnsZone,
  names: ReadonlyMap<string, DnsZone | ((type: string, before: number) => DnsZone)>,
): Buffer[] {
  const records: Buffer[] = []
  let owner = name
  let current: DnsZone | undefined = zone
  for (let hops = type === 'CNAME' ? 8 : 0; current?.CNAME !== undefined && hops < 8; hops++) {
    records.push(record(owner, DNS_TYPES.CNAME, current.ttl, encodeName(current.CNAME)))
    owner = current.CNAME.toLowerCase()
    const next = names.get(owner)
    current = typeof next === 'function' ? next(type, 0) : next
  }
  if (!current) return records
  for (const data of recordData(type, current))
    records.push(record(owner, DNS_TYPES[type as DnsType], current.ttl, data))
  return records
}

function recordData(type: string, zone: DnsZone): Buffer[] {
  if (type === 'A') return (zone.A ?? []).map((address) => Buffer.from(address.split('.').map(Number)))
  if (type === 'AAAA') return (zone.AAAA ?? []).map(encodeIpv6)
  if (type === 'CNAME') return zone.CNAME === undefined ? [] : [encodeName(zone.CNAME)]
  if (type === 'MX')
    return (zone.MX ?? []).map(([preference, exchange]) =>
      Buffer.concat([Buffer.from([preference >> 8, preference & 255]), encodeName(exchange)]),
    )
  if (type === 'TXT')
    return (zone.TXT ?? []).map((text) =>
      Buffer.concat(
        (typeof text === 'string' ? [text] : text).map((part) =>
          Buffer.concat([Buffer.from([Buffer.byteLength(part)]), Buffer.from(part)]),
        ),
      ),
    )
  return []
}

function record(owner: string, type: number, ttl = 0, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt32BE(ttl, 4)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([encodeName(owner), fixed, data])
}

function encodeName(name: string): Buffer {
  const labels = name === '.' || name === '' ? [] : name.replace(/\.$/, '').split('.')
  return Buffer.concat([
    ...labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')])),
    Buffer.from([0]),
  ])
}

function encodeIpv6(address: string): Buffer {
  // A trailing dotted quad is two more groups.
  const plain = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, ...parts: string[]) => {
    const [a, b, c, d] = parts.map(Number) as [number, number, number, number]
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  })
  const [head = '', tail] = plain.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups =
    tail === undefined
      ? left
      : [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
  const bytes = Buffer.alloc(16)
  groups.forEach((group, i) => bytes.writeUInt16BE(Number.parseInt(group, 16), i * 2))
  return bytes
}
