import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createGatewayRelay } from '../../../../src/cli/run/relay.ts'
import { Secret } from '../../../../src/lib/secret.ts'

const servers: Server[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))))
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('the door of a run', () => {
  it('hands on what the program says, with the capability of the run, and nothing of proxies and pages', async () => {
    let seen: { url: string | undefined; headers: IncomingHttpHeaders } | undefined
    const gateway = await serve((req, res) => {
      seen = { url: req.url, headers: req.headers }
      res.writeHead(200, { 'x-gateway-attempt': 'att_1' }).end('hello')
    })
    const relay = createGatewayRelay(gateway)
    const held = { id: 'cap_1', credentialId: 'crd_1', token: new Secret('agw_cap_of_the_run'), expiresAt: 0 }
    let attempt: Promise<string | undefined> | undefined
    const door = await serve((req, res) => {
      attempt = relay.send(req, res, '/v1/%7Ea?b=1', held)
    })
    const answer = await fetch(door, {
      headers: {
        'x-own': 'kept',
        'x-gateway-capability': 'agw_cap_of_the_program',
        'proxy-authorization': 'Basic eA==',
        'sec-fetch-site': 'cross-site',
        'sec-fetch-dest': 'image',
      },
    })
    expect(await answer.text()).toBe('hello')
    expect(await attempt).toBe('att_1')
    expect(seen?.url).toBe('/via/crd_1/v1/%7Ea?b=1')
    expect(seen?.headers).toMatchObject({ 'x-own': 'kept', 'x-gateway-capability': 'agw_cap_of_the_run' })
    for (const name of ['proxy-authorization', 'sec-fetch-site', 'sec-fetch-dest'])
      expect(seen?.headers).not.toHaveProperty(name)
    relay.close()
  })

  it('tells the program that the gateway does not answer', async () => {
    const relay = createGatewayRelay('http://127.0.0.1:1')
    const held = { id: 'cap_1', credentialId: 'crd_1', token: new Secret('agw_cap_x'), expiresAt: 0 }
    const door = await serve((req, res) => void relay.send(req, res, '/', held))
    const answer = await fetch(door)
    expect([answer.status, await answer.text()]).toEqual([
      502,
      'The gateway behind this proxy does not answer.\n',
    ])
    relay.close()
  })
})
