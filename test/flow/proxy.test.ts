// Unmodified programs behind the gateway's own proxy: they hold a placeholder, the upstream gets the secret, each request has a receipt.
import { once } from 'node:events'
import { lstat, mkdtemp, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { connect as connectSocket, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newToken } from '../../src/lib/tokens.ts'
import {
  createWorld,
  startTestGateway,
  type TestGateway,
  UPSTREAM_HOST,
  type World,
} from '../support/gateway.ts'
import { nodeClients, nodeProgram, runNode } from '../support/programs.ts'
import { basic, exchange, sendConnect, startTls } from '../support/proxy-client.ts'
import { removeFolder } from '../support/remove-folder.ts'

const SECRET = 'real-secret-0123456789abcdef'
const PLACEHOLDER = 'placeholder-0000'

let world: World
let gateway: TestGateway
let folder: string
let capability: string

beforeAll(async () => {
  world = await createWorld({ env: { GATEWAY_PROXY_PORT: '0' } })
  gateway = await startTestGateway({ world })
  folder = await mkdtemp(join(tmpdir(), 'agent-gateway-'))
  await writeFile(join(folder, 'ca.pem'), await (await fetch(`${gateway.gateway.proxyUrl}/ca.pem`)).text())
  ;({ capability } = await gateway.grant({ secret: SECRET }))
})
afterAll(async () => {
  await gateway.close()
  await world.close()
  await removeFolder(folder)
})

/** As a process that is killed leaves it: nobody takes it away, and nobody listens. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(`${path}.open`, resolve))
  await rename(`${path}.open`, path)
  await new Promise((resolve) => server.close(resolve))
}

const proxyFor = (token: string) => gateway.gateway.proxyUrl!.replace('://', `://agent:${token}@`)
const envFor = (token: string) => ({
  HTTPS_PROXY: proxyFor(token),
  https_proxy: proxyFor(token),
  NODE_USE_ENV_PROXY: '1',
  NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
})
const authorizations = () =>
  gateway.upstream.requests.flatMap(({ headers }) => headers.filter(([name]) => name === 'authorization'))

describe('the proxy of the gateway', () => {
  it.each(nodeClients)(
    'serves a program that calls with %s and holds a placeholder alone',
    async (client) => {
      const before = gateway.upstream.requests.length
      const program = nodeProgram(client, gateway.url(`/${client}?q=1`), {
        authorization: `Bearer ${PLACEHOLDER}`,
      })
      const { status, output } = await runNode(program, envFor(capability))
      expect(output).toBe('200 {"ok":true}\n')
      expect(status).toBe(0)
      const received = gateway.upstream.requests.slice(before)
      expect(received).toMatchObject([{ method: 'GET', target: `/${client}?q=1` }])
      expect(authorizations().at(-1)).toEqual(['authorization', `Bearer ${SECRET}`])
      expect(JSON.stringify(received.map(({ headers }) => headers))).not.toContain('proxy-authorization')
    },
  )

  it('makes one attempt with a receipt of each request, and nothing of the secret is in the log', async () => {
    const { body } = await gateway.rest('GET', '/v1/egress/attempts')
    expect(body.attempts).toHaveLength(gateway.upstream.requests.length)
    for (const { state, receipt } of body.attempts) {
      expect(state).toBe('settled')
      expect(receipt).not.toBeNull()
    }
    expect(gateway.log()).not.toContain(SECRET)
    expect(gateway.log()).not.toContain(capability)
    expect(gateway.log()).toContain('"way":"credential"')
  })

  it.each([
    ['a capability that was never issued', () => newToken('cap')],
    ['a service key', () => gateway.operatorKey],
    ['nonsense', () => 'nonsense'],
  ])('lets nobody through with %s', async (_, token) => {
    const answer = await sendConnect(gateway.gateway.proxyUrl!, `${UPSTREAM_HOST}:${gateway.upstream.port}`, [
      basic(token()),
    ])
    expect(answer.status).toBe(403)
    expect(JSON.parse(answer.body).code).toBe('scope_denied')
  })

  it('refuses so many tokens of an address in a minute, and holds it against nobody whose capability is good', async () => {
    const limited = await startTestGateway({ env: { GATEWAY_PROXY_PORT: '0', GATEWAY_RATE_LIMIT: '5' } })
    const one = await limited.grant({ secret: SECRET })
    const other = await limited.grant({ secret: SECRET, credential: { label: 'other' } })
    async function connect(token: string) {
      const authority = `${UPSTREAM_HOST}:${limited.upstream.port}`
      const { status, head, socket } = await sendConnect(limited.gateway.proxyUrl!, authority, [basic(token)])
      socket.destroy()
      return status === 429 && !/\r\nretry-after: \d+\r\n/i.test(`${head}\r\n`) ? 'no Retry-After' : status
    }
    const refused = []
    for (let i = 0; i < 7; i++) refused.push(await connect(i % 2 === 0 ? newToken('cap') : 'nonsense'))
    expect(refused).toEqual([403, 403, 403, 403, 403, 429, 429])
    const taken = []
    for (let i = 0; i < 6; i++) taken.push(await connect(one.capability))
    expect(taken).toEqual([200, 200, 200, 200, 200, 429])
    expect(await connect(other.capability)).toBe(200)
    await limited.close()
  })

  it('asks a program that says nothing, and the one that answers goes on', async () => {
    const authority = `${UPSTREAM_HOST}:${gateway.upstream.port}`
    expect((await sendConnect(gateway.gateway.proxyUrl!, authority)).status).toBe(407)
    const { status, socket } = await sendConnect(gateway.gateway.proxyUrl!, authority, [basic(capability)])
    expect(status).toBe(200)
    socket.destroy()
  })

  it('refuses hosts that the capability is not for, whether or not the account has a credential there', async () => {
    const other = await gateway.grant({ credential: { hosts: ['other.example.com'], label: 'other' } })
    const ask = (host: string, token: string) =>
      sendConnect(gateway.gateway.proxyUrl!, `${host}:443`, [basic(token)])
    expect((await ask('other.example.com', capability)).status).toBe(403)
    expect((await ask('none.example.com', capability)).status).toBe(403)
    const { status, socket } = await ask('other.example.com', other.capability)
    expect(status).toBe(200)
    socket.destroy()
  })

  it('refuses the next request on an open connection once the capability is revoked', async () => {
    const granted = await gateway.grant({ secret: SECRET, credential: { label: 'to be revoked' } })
    const authority = `${UPSTREAM_HOST}:${gateway.upstream.port}`
    const { socket } = await sendConnect(gateway.gateway.proxyUrl!, authority, [basic(granted.capability)])
    const ca = await (await fetch(`${gateway.gateway.proxyUrl}/ca.pem`)).text()
    const tls = await startTls(socket, { ca, servername: UPSTREAM_HOST })
    const text = `GET /before HTTP/1.1\r\nHost: ${authority}\r\n\r\n`
    expect((await exchange(tls, text)).status).toBe(200)
    await gateway.rest('POST', `/v1/egress/capabilities/${granted.capabilityId}/revoke`, {})
    const before = gateway.upstream.requests.length
    expect((await exchange(tls, text)).status).toBe(401)
    tls.destroy()
    expect(gateway.upstream.requests.length).toBe(before)
    expect(
      (await sendConnect(gateway.gateway.proxyUrl!, authority, [basic(granted.capability)])).status,
    ).toBe(403)
  })

  it('has what it refuses in the audit log of whose capability it is, and of the installation where it is nobody’s', async () => {
    const { capability: good, capabilityId } = await gateway.grant({ credential: { label: 'logged' } })
    const gone = await gateway.grant({ credential: { label: 'revoked and logged' } })
    await gateway.rest('POST', `/v1/egress/capabilities/${gone.capabilityId}/revoke`, {})
    const read = async (of: string, after = 0) =>
      (await gateway.rest('GET', `/v1/audit/events?of=${of}&after=${after}&limit=500`)).body.events
    const [own, installation] = [await read('account'), await read('installation')]
    const authority = `${UPSTREAM_HOST}:${gateway.upstream.port}`
    const connect = (to: string, token: string) => sendConnect(gateway.gateway.proxyUrl!, to, [basic(token)])

    for (let i = 0; i < 3; i++) await connect(authority, gone.capability)
    const { body } = await connect('unknown.example.com:443', good)
    await connect('169.254.169.254:443', good)
    const { socket } = await connect(authority, good)
    const ca = await (await fetch(`${gateway.gateway.proxyUrl}/ca.pem`)).text()
    const tls = await startTls(socket, { ca, servername: UPSTREAM_HOST })
    await exchange(tls, 'GET / HTTP/1.1\r\nHost: other.example.com\r\n\r\n')
    tls.destroy()
    await connect('none.example.com:443', newToken('cap'))

    const events = await read('account', own.at(-1).seq)
    const told = events.map((event: Record<string, Record<string, unknown>>) => [
      event['event'],
      event['actor']?.['id'] ?? event['subject']?.['id'],
      event['detail']?.['code'],
      event['detail']?.['host'],
    ])
    expect(told).toEqual([
      ['sign_in.failed', gone.capabilityId, 'capability_invalid', UPSTREAM_HOST],
      ['scope.denied', capabilityId, 'scope_denied', 'unknown.example.com'],
      ['target.refused', capabilityId, 'target_blocked', '169.254.169.254'],
      ['target.refused', capabilityId, 'host_mismatch', UPSTREAM_HOST],
    ])
    expect(events[1].actor).toMatchObject({
      kind: 'capability',
      door: 'proxy',
      request_id: JSON.parse(body).request_id,
    })
    expect(await read('installation', installation.at(-1)?.seq ?? 0)).toMatchObject([
      { event: 'sign_in.failed', subject: null, actor: { kind: 'anonymous', door: 'proxy' } },
    ])
    expect(JSON.stringify(await read('account'))).not.toContain('agw_')
  })

  it('takes the capability of the CONNECT for every request inside, whatever token the program sends there', async () => {
    const { capability: other } = await gateway.grant({ secret: SECRET, credential: { label: 'inside' } })
    const authority = `${UPSTREAM_HOST}:${gateway.upstream.port}`
    const { socket } = await sendConnect(gateway.gateway.proxyUrl!, authority, [basic(capability)])
    const ca = await (await fetch(`${gateway.gateway.proxyUrl}/ca.pem`)).text()
    const tls = await startTls(socket, { ca, servername: UPSTREAM_HOST })
    for (const token of [other, newToken('cap')])
      for (const line of [
        `Authorization: Bearer ${token}`,
        `X-Gateway-Capability: ${token}`,
        basic(token),
        `X-Api-Key: ${token}`,
      ]) {
        const { status, head } = await exchange(
          tls,
          `GET /inside HTTP/1.1\r\nHost: ${authority}\r\n${line}\r\n\r\n`,
        )
        expect([line.split(':')[0], status]).toEqual([line.split(':')[0], 200])
        const [, id] = /x-gateway-attempt: (\S+)/i.exec(head)!
        // A capability sees its own attempts alone.
        expect((await gateway.rest('GET', `/v1/egress/attempts/${id}`, undefined, capability)).status).toBe(
          200,
        )
        expect((await gateway.rest('GET', `/v1/egress/attempts/${id}`, undefined, other)).status).toBe(404)
        expect(JSON.stringify(gateway.upstream.requests.at(-1)!.headers)).not.toContain('agw_')
      }
    tls.destroy()
  })

  it('has the same certificates after a restart, and loses its port', async () => {
    const before = await (await fetch(`${gateway.gateway.proxyUrl}/ca.pem`)).text()
    const url = gateway.gateway.proxyUrl!
    await gateway.gateway.close(1000)
    await expect(fetch(url)).rejects.toThrow()
    gateway = await startTestGateway({ world })
    expect(await (await fetch(`${gateway.gateway.proxyUrl}/ca.pem`)).text()).toBe(before)
  })

  it('listens on a socket for containers, which its owner alone may use, and takes the place of one that was left behind', async () => {
    const path = join(folder, 'proxy.sock')
    await leaveSocket(path)
    const other = await startTestGateway({ env: { GATEWAY_PROXY_SOCKET: path } })
    expect(other.gateway.proxyUrl).toBeUndefined()
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    const { capability: held } = await other.grant({ secret: SECRET })
    const dispatcher = new Agent({ connect: { socketPath: path } })
    const connected = await dispatcher.connect({
      origin: 'http://proxy',
      path: `${UPSTREAM_HOST}:${other.upstream.port}`,
      headers: { 'proxy-authorization': `Bearer ${held}` },
    })
    expect(connected.statusCode).toBe(200)
    connected.socket.destroy()
    await dispatcher.close()
    await other.close()
  })

  it('takes neither the place of a file nor that of a socket at which somebody listens', async () => {
    const start = (path: string) => startTestGateway({ env: { GATEWAY_PROXY_SOCKET: path } })
    const notes = join(folder, 'notes.txt')
    await writeFile(notes, 'nothing of the gateway')
    await expect(start(notes)).rejects.toThrow(`GATEWAY_PROXY_SOCKET: ${notes} is there and no socket`)
    expect(await readFile(notes, 'utf8')).toBe('nothing of the gateway')
    const link = join(folder, 'link.sock')
    await symlink(notes, link)
    await expect(start(link)).rejects.toThrow('is there and no socket')
    expect((await lstat(link)).isSymbolicLink()).toBe(true)

    const taken = join(folder, 'taken.sock')
    const first = await start(taken)
    await expect(start(taken)).rejects.toThrow(`another process listens at ${taken}`)
    const socket = connectSocket({ path: taken })
    await once(socket, 'connect')
    socket.destroy()
    await first.close()
  })

  it('is not there unless it is configured', async () => {
    const without = await startTestGateway()
    expect(without.gateway.proxyUrl).toBeUndefined()
    await without.close()
  })
})
