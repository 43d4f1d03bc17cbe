// What takes the place of a secret while a request is open comes back in no answer to that request either.
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { CLIENT, type OAuthServer, reservePort, startOAuthServer } from '../support/oauth-server.ts'
import type { ReceivedRequest } from '../support/upstream.ts'
import { connectWebSocket, serveWebSockets } from '../support/websocket.ts'

const FIRST = 'key-q7Zk9Wm2Rt5Yp8VxB3nLc6Hd'
const SECOND = 'key-Jf4Gs0TaUeKX1vQoPiYw5MbN'

let gw: TestGateway
let oauth: OAuthServer
let clock = 0
beforeAll(async () => {
  const reserved = await reservePort()
  gw = await startTestGateway({
    ports: [reserved.port],
    env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' },
    now: () => Date.now() + clock,
  })
  oauth = await startOAuthServer(reserved, gw.ca, UPSTREAM_HOST)
})
afterAll(async () => {
  await gw.close()
  await oauth.close()
})

const bearerOf = ({ headers }: Pick<ReceivedRequest, 'headers'>) =>
  /^Bearer (.+)$/.exec(headers.find(([name]) => name === 'authorization')?.[1] ?? '')?.[1] ?? ''
let label = ''
let grants = 0
beforeEach(() => {
  clock = 0
  label = `own-${++grants}`
})

/** An upstream that keeps `/v1/log` waiting, and says which secret came with everything else. */
function serve() {
  const asked = Promise.withResolvers<ServerResponse>()
  const seen: string[] = []
  let status = 200
  gw.upstream.respond((request, res) => {
    if (request.target.startsWith('/v1/log')) return asked.resolve(res)
    seen.push(bearerOf(request))
    res.writeHead(status).end('{}')
  })
  return { log: asked.promise, seen, answerWith: (next: number) => void (status = next) }
}
type Served = ReturnType<typeof serve>

interface Held {
  readonly capability: string
  /** @returns the secret that took the place of the one before */
  readonly replace: () => Promise<string>
}
const hosts = () => [`${UPSTREAM_HOST}:${gw.upstream.port}`]
const ask = (capability: string, path = '/v1/things') => gw.fetch(capability, { url: gw.url(path) })

const kinds: Record<string, (served: Served) => Promise<Held>> = {
  'a token that another call had minted': async ({ seen, answerWith }) => {
    const { capability } = await gw.grant({
      credential: {
        label,
        hosts: hosts(),
        secret: undefined,
        parts: { refresh_token: await oauth.newRefreshToken(), client_secret: CLIENT.secret },
        settings: { kind: { type: 'oauth2_refresh_token', token_url: oauth.tokenUrl, client_id: CLIENT.id } },
      },
      capability: { ttl_seconds: 86_400 },
    })
    await ask(capability)
    return {
      capability,
      async replace() {
        clock += 120_000
        answerWith(401)
        await ask(capability)
        answerWith(200)
        await expect
          .poll(async () => {
            await ask(capability)
            return new Set(seen).size
          })
          .toBe(2)
        return seen.at(-1) ?? ''
      },
    }
  },
  'a secret that its operator rotated': async () => {
    const { capability, credentialId } = await gw.grant({
      secret: FIRST,
      credential: { label, hosts: hosts() },
    })
    return {
      capability,
      async replace() {
        const path = `/v1/egress/credentials/${credentialId}/rotate`
        expect((await gw.rest('POST', path, { secret: SECOND })).status).toBe(200)
        return SECOND
      },
    }
  },
}

describe.each(Object.keys(kinds))('%s while a request is open', (kind) => {
  const via = (capability: string) =>
    fetch(`${gw.baseUrl}/via/${label}/v1/log`, { headers: { authorization: `Bearer ${capability}` } })

  it('is not in the answer', async () => {
    const served = serve()
    const { capability, replace } = await kinds[kind]!(served)
    const asking = ask(capability, '/v1/log')
    const res = await served.log
    const secret = await replace()
    res.end(JSON.stringify({ recent: [`Bearer ${secret}`] }))
    const { body, text } = await asking
    expect(body.code).toBe('secret_reflected')
    expect(text).not.toContain(secret)
  })

  it('leaves an answer alone that does not show it', async () => {
    const served = serve()
    const { capability, replace } = await kinds[kind]!(served)
    const asking = ask(capability, '/v1/log')
    const res = await served.log
    await replace()
    res.end('{"recent":[]}')
    expect((await asking).body.upstream).toMatchObject({ status: 200, body: '{"recent":[]}' })
  })

  it('is not in the events of a program', async () => {
    const served = serve()
    const { capability, replace } = await kinds[kind]!(served)
    const asking = via(capability)
    const res = await served.log
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: begun\n\n')
    const answer = await asking
    const secret = await replace()
    res.write(`data: Bearer ${secret}\n\n`)
    const text = await untilBreak(answer)
    expect(text).toContain('data: begun')
    expect(text).toContain('event: error')
    expect(text).not.toContain(secret)
  })

  it('is not in a body that a program gets while it arrives, however it is cut', async () => {
    const served = serve()
    const { capability, replace } = await kinds[kind]!(served)
    const asking = via(capability)
    const res = await served.log
    res.writeHead(200, { 'content-type': 'application/json' }).write('{"recent":["begun"\n')
    const answer = await asking
    const secret = await replace()
    res.write(`,"Bearer ${secret.slice(0, 9)}`)
    res.end(`${secret.slice(9)}"]}`)
    const text = await untilBreak(answer)
    expect(text).toContain('begun')
    expect(text).not.toContain(secret.slice(0, 9))
    expect(text).not.toContain(secret.slice(9))
  })

  it('is in no message of a WebSocket', async () => {
    const served = serve()
    const { capability, replace } = await kinds[kind]!(served)
    const { sockets } = serveWebSockets(gw.upstream)
    const socket = await connectWebSocket(`${gw.baseUrl.replace('http', 'ws')}/via/${label}/v1/socket`, {
      headers: { authorization: `Bearer ${capability}` },
    })
    const secret = await replace()
    sockets[0]?.send('begun')
    expect((await socket.next()).data.toString()).toBe('begun')
    sockets[0]?.send(`Bearer ${secret}`)
    expect((await socket.closed).code).toBe(1008)
    expect(Buffer.concat(socket.received).toString()).toBe('begun')
  })
})

async function untilBreak(answer: Response): Promise<string> {
  let received = ''
  try {
    for await (const chunk of answer.body!) received += Buffer.from(chunk as Uint8Array).toString()
  } catch {
    return received
  }
  throw new Error(`the answer ended well: ${received}`)
}
