// The recipe of docs/guides/unmodified-programs.md for a container without a network, with podman: a program that knows nothing of the
// gateway, in there with placeholders, and a neighbour that hands connections to the socket.
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCli } from '../support/cli.ts'
import { podman, tryPodman } from '../support/container.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { removeFolder } from '../support/remove-folder.ts'

const SECRET = 'real-secret-0123456789abcdef'
const LIMITS = '--ulimit=nofile=1024:1024 --ulimit=nproc=4096:4096'
const words = (text: string) => text.split(' ')
const run = randomUUID().slice(0, 8)
const [image, door] = [`localhost/gateway-test-agent:${run}`, `gateway-test-door-${run}`]

let gateway: TestGateway
let folder: string
let capabilityId: string
let agent: readonly string[]

beforeAll(async () => {
  await podman('import', '--quiet', join(process.env['TEST_IMAGE_PROGRAMS']!, 'agent.tar'), image)
  folder = await mkdtemp(join(tmpdir(), 'agent-container-'))
  const [sockets, trust, envFile] = ['sockets', 'trust', 'agent.env'].map((name) => join(folder, name))
  await mkdir(sockets!)
  gateway = await startTestGateway({
    env: { GATEWAY_PROXY_PORT: '0', GATEWAY_PROXY_SOCKET: join(sockets!, 'door.sock') },
  })
  const granted = await gateway.grant({ secret: SECRET })
  ;({ capabilityId } = granted)
  const proxy = gateway.gateway.proxyUrl!
  const { stdout } = await runCli(
    ['env', '--proxy', proxy, '--provider', 'openai', '--folder', trust!, '--format', 'env-file'],
    { GATEWAY_DATA_DIR: join(folder, 'data') },
    granted.capability,
  )
  await writeFile(envFile!, stdout, { mode: 0o600 })
  await podman(
    ...words(
      `run --detach --name=${door} --network=none ${LIMITS} --volume=${sockets}:/door ${image} /usr/bin/socat`,
    ),
    ...words(`TCP-LISTEN:${new URL(proxy).port},bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:/door/door.sock`),
  )
  agent = words(
    `run --rm --network=container:${door} --user=1000:1000 --env-file=${envFile} ${LIMITS} --volume=${trust}:${trust}:ro ${image}`,
  )
})
afterAll(async () => {
  await tryPodman('rm', '--force', '--time=0', door)
  await tryPodman('rmi', image)
  await gateway?.close()
  await removeFolder(folder)
})

const curl = (...args: readonly string[]) =>
  tryPodman(...agent, '/usr/bin/curl', '--silent', '--show-error', ...args)

it('has a program in it that holds no secret, and whose requests carry it', async () => {
  // The shell of nobody expands it: curl does, by the variable that `env` wrote.
  const answer = await curl(
    '--expand-header',
    'Authorization: Bearer {{OPENAI_API_KEY}}',
    ...words('--variable %OPENAI_API_KEY --retry 20 --retry-connrefused --retry-delay 1'),
    gateway.url('/agent'),
  )
  expect(answer).toMatchObject({ code: 0, stdout: '{"ok":true}' })
  expect(gateway.upstream.requests).toHaveLength(1)
  expect(gateway.upstream.requests[0]!.headers).toContainEqual(['authorization', `Bearer ${SECRET}`])
  const variables = await tryPodman(...agent, '/usr/bin/env')
  expect(variables.stdout).toMatch(/^OPENAI_API_KEY=sk-proj-AgentGatewayPlaceholder/m)
  expect(variables.stdout).not.toContain(SECRET)
})

it('has no way out but the door', async () => {
  const before = gateway.upstream.requests.length
  const beside = words('--noproxy * --connect-timeout 5')
  // The upstream itself, the gateway's own port, and an address of elsewhere.
  for (const url of [`https://127.0.0.1:${gateway.upstream.port}`, gateway.baseUrl, 'http://192.0.2.1'])
    expect(await curl(...beside, url)).toMatchObject({ code: 7, stdout: '' })
  expect(await curl(`https://other.example.com:${gateway.upstream.port}/`)).toMatchObject({ code: 56 })
  expect((await tryPodman(...agent, '/usr/bin/ls', '/')).stdout).not.toMatch(/^door$/m)
  expect(gateway.upstream.requests).toHaveLength(before)
})

it('lets nobody through once the capability is revoked', async () => {
  expect((await gateway.rest('POST', `/v1/egress/capabilities/${capabilityId}/revoke`, {})).status).toBe(200)
  const before = gateway.upstream.requests.length
  expect((await curl(gateway.url('/agent'))).code).not.toBe(0)
  expect(gateway.upstream.requests).toHaveLength(before)
})
