// `agent-gateway run` under a policy, and the policy that a dry run suggests.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.ts'
import { type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { nodeProgram } from '../support/programs.ts'
import { type RunCommand, startRunCommand } from '../support/run-command.ts'

const SECRET = 'real-secret-0123456789abcdef'

// Each starts the whole command line from source, which a busy machine takes its time for.
describe('a policy of a run', () => {
  let command: RunCommand
  let gateway: TestGateway
  let folder: string
  let env: RunCommand['env']
  let host: string
  beforeAll(async () => {
    command = await startRunCommand()
    ;({ gateway, folder, env } = command)
    host = `${UPSTREAM_HOST}:${gateway.upstream.port}`
    await gateway.grant({ secret: SECRET, credential: { label: 'upstream' } })
  })
  afterAll(() => command.close())

  const node = (...paths: string[]) => [
    '--',
    process.execPath,
    '--input-type=module',
    '-e',
    paths.map((path) => `{ ${nodeProgram('fetch', gateway.url(path))} }`).join('\n'),
  ]
  const file = async (name: string, text: string) => {
    const path = join(folder, name)
    await writeFile(path, text)
    return path
  }
  const targets = () => gateway.upstream.requests.map(({ target }) => target)

  it('is suggested by a dry run, allows what that did, and nothing else', async () => {
    const summary = join(folder, 'seen.json')
    const seen = await runCli(
      ['run', '--dry-run', '--summary', summary, ...node('/v1/things/1?secret=q', '/v1/things/2', '/v1/me')],
      env,
    )
    expect(seen.code).toBe(0)
    expect(await readFile(summary, 'utf8')).not.toMatch(/secret=q|real-secret|agw_/)
    const suggested = await runCli(['policy', 'suggest', summary], env)
    expect(suggested.stdout).toBe(
      '# From 3 requests to 1 host. The first rule that fits decides, and what none fits is refused. `ask` instead of `allow` asks a person first.\n' +
        `allow GET ${host}/v1/me\n# Wider than what was seen: 2 paths, such as /v1/things/1\nallow GET ${host}/v1/things/*\n`,
    )
    const policy = await file('suggested.policy', suggested.stdout)
    const before = targets().length
    const held = await runCli(
      ['run', '--policy', policy, ...node('/v1/things/3', '/v1/things/3/delete', '/v1/others')],
      env,
    )
    expect(held.stdout).toMatch(/^200 .*\n403 .*scope_denied.*\n403 .*\n$/)
    expect(held.stdout).toContain('No rule of this capability allows this request')
    expect(targets().slice(before)).toEqual(['/v1/things/3'])
    expect(held.stderr).toContain('1 attempt, 1 credit, 1 receipt')
    expect(held.stderr).toContain(
      `${UPSTREAM_HOST}  refused 2 times: No rule of this capability allows this request.`,
    )
  })

  it('says what a suggestion leaves out, and where its rules are too many', async () => {
    const request = { host: 'a.example.com', times: 1 }
    const many = Array.from({ length: 65 }, (_, at) => ({
      ...request,
      path: `/a${at}x/b${at}y`,
      method: 'DELETE',
    }))
    const long = { ...request, method: 'POST', path: '/step'.repeat(300) }
    const odd = await file('odd.json', JSON.stringify({ requests: [...many, long] }))
    const { stdout } = await runCli(['policy', 'suggest', odd], env)
    expect(stdout).toContain('\n# 65 rules for a.example.com, and a capability takes 64: ')
    expect(stdout).toContain('\n# Left out, because no rule is as long: POST a.example.com/step/step')
    expect(stdout.match(/^allow DELETE a\.example\.com\/a\d+x\/b\d+y$/gm)).toHaveLength(65)
  })

  it('is not suggested from a record that is not whole', async () => {
    const requests = [{ method: 'GET', host: 'a.example.com', path: '/x', times: 1 }]
    const some = await file(
      'some.json',
      JSON.stringify({ requests, requests_others: { times: 3, refused: 0 } }),
    )
    const refused = await runCli(['policy', 'suggest', some], env)
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toContain('does not name 3 requests of the run')
  })

  it('is suggested for the path that the gateway judges, without what the program put in place of the secret', async () => {
    const placements = [{ in: 'path' as const, at: 0, prefix: 'bot' }]
    const { credentialId } = await gateway.grant({
      secret: SECRET,
      credential: { label: 'in-path', settings: { placements } },
    })
    const summary = join(folder, 'in-path.json')
    const called = node('/bot123456789:AgentGatewayPlaceholder/get%4De')
    const start = ['run', '--credential', 'in-path']
    const seen = await runCli([...start, '--dry-run', '--summary', summary, ...called], env)
    const suggested = await runCli(['policy', 'suggest', summary], env)
    expect(suggested.stdout).toMatch(new RegExp(`^# .*\\nallow GET ${host}/getMe\\n$`))
    expect(seen.stderr + suggested.stdout + (await readFile(summary, 'utf8'))).not.toContain('Placeholder')
    const policy = await file('in-path.policy', suggested.stdout)
    const held = await runCli([...start, '--policy', policy, ...called], env)
    expect(held.stdout).toBe('200 {"ok":true}\n')
    expect(targets().at(-1)).toBe(`/bot${SECRET}/getMe`)
    const dry = await runCli([...start, '--dry-run', '--policy', policy, ...called], env)
    expect(dry.stderr).not.toContain('the policy denies')
    // A key of the program's own is sent nowhere, and written nowhere.
    const own = node('/bot123456789:AAHrealKeyOfTheProgramItself/getMe')
    const refused = await runCli([...start, '--dry-run', '--summary', summary, ...own], env)
    expect(refused.stdout).toMatch(/^400 /)
    expect(refused.stderr + (await readFile(summary, 'utf8'))).not.toContain('AAHreal')
    await gateway.rest('POST', `/v1/egress/credentials/${credentialId}/revoke`)
  })

  it('starts nothing where the summary could not be written', async () => {
    const before = targets().length
    const summary = join(folder, 'no-such-folder', 'seen.json')
    const ended = await runCli(['run', '--summary', summary, ...node('/v1/never')], env)
    expect(ended.code).toBe(2)
    expect(ended.stderr).toContain('The summary cannot be written to')
    expect(targets()).toHaveLength(before)
  })

  it('refuses nothing in a dry run, and says what it would have', async () => {
    const policy = await file('narrow.policy', `deny GET ${host}/v1/secret/**\nallow GET ${host}/v1/**\n`)
    const before = targets().length
    const ended = await runCli(['run', '--dry-run', '--policy', policy, ...node('/v1/secret', '/v1/ok')], env)
    expect(targets().slice(before)).toEqual(['/v1/secret', '/v1/ok'])
    expect(ended.stderr).toContain(`dry run: the policy denies GET ${host}/v1/secret`)
    expect(ended.stderr).not.toContain(`${host}/v1/ok`)
  })

  it('has a person asked, and the program waits for their word', async () => {
    const policy = await file('ask.policy', `ask GET ${host}/v1/**\n`)
    const running = runCli(['run', '--policy', policy, ...node('/v1/asked')], env)
    let permit: { permit_id: string } | undefined
    while (!permit) {
      await sleep(50)
      ;[permit] = (await gateway.rest('GET', '/v1/actions/permits?state=pending_approval')).body.permits
    }
    expect(targets()).not.toContain('/v1/asked')
    await gateway.rest('POST', `/v1/actions/permits/${permit.permit_id}/approve`, {})
    expect((await running).stdout).toBe('200 {"ok":true}\n')
    expect(targets()).toContain('/v1/asked')
  })

  it('gives a run nothing for a host that no rule names', async () => {
    const policy = await file('other.policy', 'allow * api.other.example.com\n')
    const ended = await runCli(['run', '--policy', policy, ...node('/v1/me')], env)
    expect(ended.stdout).toMatch(/^failed/)
    expect(ended.stderr).toContain(`Connections to ${UPSTREAM_HOST} are not allowed here`)
  })

  it.each(['tunnel', 'inspect'])('lets no host pass by --unknown %s, and says so', async (unknown) => {
    const policy = await file('narrow.policy', `allow GET ${host}/v1/me\ndeny * evil.example.com\n`)
    const program = ['/v1/me', 'https://evil.example.com/', 'https://unnamed.example.com/']
      .map((url) => nodeProgram('fetch', url.startsWith('/') ? gateway.url(url) : url))
      .map((text) => `{ ${text} }`)
    const options = ['--policy', policy, '--unknown', unknown]
    const ended = await runCli(
      ['run', ...options, '--', process.execPath, '--input-type=module', '-e', program.join('\n')],
      env,
    )
    expect(ended.stdout).toMatch(/^200 .*\nfailed.*\nfailed.*\n$/)
    expect(ended.stderr).toContain(`agent-gateway run: the policy decides, not --unknown ${unknown}`)
    for (const name of ['evil', 'unnamed'])
      expect(ended.stderr).toContain(`Connections to ${name}.example.com are not allowed here`)
  })

  it('is checked by hand, and refused where it is none', async () => {
    const policy = await file('check.policy', 'ask POST api.github.com/**\nallow GET api.github.com/user\n')
    const check = (...request: string[]) => runCli(['policy', 'check', policy, ...request], env)
    expect(await check('GET', 'https://api.github.com/user')).toMatchObject({
      code: 0,
      stdout: 'allow: allow GET api.github.com/user\n',
    })
    expect((await check('post', 'https://api.github.com/graphql')).stdout).toBe(
      'ask: ask POST api.github.com/**\n',
    )
    expect(await check('GET', 'https://api.github.com/users')).toMatchObject({
      code: 1,
      stdout: 'deny: no rule fits\n',
    })
    const tunnel = await file(
      'tunnel.policy',
      'allow GET api.github.com/user\ndeny DELETE gitlab.com\ntunnel pypi.org\ntunnel gitlab.com\n',
    )
    const ask = (...request: string[]) => runCli(['policy', 'check', tunnel, ...request], env)
    expect(await ask('GET', 'https://pypi.org/simple/')).toMatchObject({
      code: 0,
      stdout: 'tunnel: connections to pypi.org pass unopened\n',
    })
    expect((await ask('DELETE', 'https://gitlab.com/x')).stdout).toBe(
      'tunnel: connections to gitlab.com pass unopened, unless the run has a credential for it; then deny: deny DELETE gitlab.com\n',
    )
    expect(await ask('GET', 'https://files.pypi.org/')).toMatchObject({ code: 1 })
    // A rule that forbids means every way in which a server may read it.
    const slash = await file('slash.policy', 'deny GET gitlab.com/api/v4/**\nallow GET gitlab.com/**\n')
    expect(
      await runCli(['policy', 'check', slash, 'GET', 'https://gitlab.com/api%2Fv4/projects/a%2Fb'], env),
    ).toMatchObject({ code: 1, stdout: 'deny: deny GET gitlab.com/api/v4/**\n' })
    const wrong = await file('wrong.policy', 'allow everything\n')
    const refused = await runCli(['run', '--policy', wrong, ...node('/v1/me')], env)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('wrong.policy, line 1: is no rule')
    const none = await runCli(['policy', 'suggest', await file('none.json', '{"hosts":[]}')], env)
    expect(none.code).toBe(2)
    expect(none.stderr).toContain('--dry-run')
  })

  it('holds a capability that is issued with it', async () => {
    const policy = await file('issued.policy', `allow GET ${host}/v1/me\n`)
    const { body } = await gateway.rest('GET', '/v1/egress/credentials')
    const { credential_id } = body.credentials.find(({ label }: { label: string }) => label === 'upstream')
    const issued = await runCli(
      ['capabilities', 'issue', '--credential', credential_id, '--policy', policy, '--json'],
      env,
    )
    expect(JSON.parse(issued.stdout)).toMatchObject({ rules: [[`allow GET ${host}/v1/me`]] })
  })
})
