// The README and the guides, literally: their commands are taken from the pages and run against the built gateway, the answers of
// outcomes are compared, and the snippets for assistants parse and name addresses that answer. Programs are run by examples.test.ts.
import { globSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createTestCa } from '../support/ca.ts'
import { type Started, start } from '../support/process.ts'
import { removeFolder } from '../support/remove-folder.ts'

const root = new URL('../../', import.meta.url)
const launcher = new URL('dist/launcher.js', root).pathname
const ADDRESS = 'http://localhost:8402'

const pages = new Map(
  globSync(['README.md', 'CONTRIBUTING.md', 'examples/README.md', 'docs/**/*.md'], {
    cwd: root.pathname,
  }).map((path) => [path, readFileSync(new URL(path, root), 'utf8')]),
)
const text = [...pages.values()].join('\n')
const blocks = [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language, text]) => ({
  language,
  text: text!,
}))
/** The commands that a test of this file has asked for. */
const used = new Set<string>()
const shell = (start: string) => {
  const found = blocks.find(({ language, text }) => language === 'sh' && text.startsWith(start))
  if (!found) throw new Error(`no page has a command that starts with ${start}`)
  used.add(found.text)
  return found.text
}

/** Each request with the answer that follows it. */
const shown = blocks.filter(({ language }) => language === 'jsonc').map(({ text }) => text)
const outcomes = shown.flatMap((request, index): [string, string, string][] => {
  const { capability } = JSON.parse(request) as { capability?: string }
  return capability === undefined ? [] : [[capability, request, shown[index + 1]!]]
})

let directory: string
let server: Started
let baseUrl: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agent-gateway-readme-'))
  server = start(process.execPath, [launcher, 'serve'], { env: environment({ PORT: '0' }) })
  const [, url] = await server.until('stdout', /^listening on (\S+)$/m)
  baseUrl = url!
})
afterAll(async () => {
  server.kill('SIGTERM')
  await server.ended
  await removeFolder(directory)
})

const environment = (more: Record<string, string> = {}) => ({
  PATH: process.env['PATH'],
  GATEWAY_DATA_DIR: join(directory, 'data'),
  ...more,
})

/** Runs a block in bash, with the built program in place of npx and the placeholders filled in. */
async function run(
  block: string,
  placeholders: Record<string, string> = {},
  cwd = root.pathname,
): Promise<string> {
  let text = block
    .replaceAll('npx agent-gateway', `"${process.execPath}" "${launcher}"`)
    .replaceAll('npx node', `"${process.execPath}"`)
    .replaceAll(ADDRESS, baseUrl)
  for (const [name, value] of Object.entries(placeholders)) text = text.replaceAll(name, value)
  const child = start('bash', ['-e', '-o', 'pipefail', '-c', text], {
    cwd,
    env: environment({ GATEWAY_BASE_URL: baseUrl }),
  })
  const { code } = await child.ended
  expect(code, `${text}\n${child.stdout()}\n${child.stderr()}`).toBe(0)
  return child.stdout()
}

const first = (text: string, pattern: RegExp) => {
  const [match] = pattern.exec(text) ?? []
  if (!match) throw new Error(`no ${pattern} in ${text}`)
  return match
}

it('names every command that `--help` lists', async () => {
  const [, listed] = /lists\s+the\s+rest: ([^.]*)\./.exec(pages.get('docs/operating.md')!)!
  const help = start(process.execPath, [launcher, '--help'], { env: environment() })
  await help.ended
  const commands = [
    ...help.stdout().matchAll(/^ {2}([a-z-]+)(?: \[options\])?(?: [<[][\w.]+[>\]])? {2,}/gm),
  ].map(([, name]) => name)
  const before = ['serve', 'stdio', 'doctor']
  expect(listed!.split(/,\s+/).toSorted()).toEqual(
    commands.filter((name) => !before.includes(name!)).toSorted(),
  )
})

describe('the first page', () => {
  const SECRET = 'a-secret-the-agent-never-sees'
  let capability: string

  it('shows the two commands that a newcomer needs', () => {
    expect(shell('npm ci && npm start').trim()).toBe('npm ci && npm start')
    expect(shell('npm ci && npm test').trim()).toBe('npm ci && npm test')
  })

  it('goes from a stored credential to a verified receipt', async () => {
    const stored = await run(shell("printf 'a-secret"))
    const issued = await run(shell('npx agent-gateway capabilities issue'), {
      CREDENTIAL_ID: first(stored, /cred_[a-z0-9]+/),
    })
    capability = first(issued, /agw_cap_[0-9A-Za-z]+/)
    const answer = await run(shell(`curl -s ${ADDRESS}/v1/egress/fetch`), { CAPABILITY: capability })
    expect(JSON.parse(answer)).toMatchObject({
      upstream: { status: 200 },
      credits: { charged: 1, balance: null },
    })
    const verified = await run(shell('npx agent-gateway receipts show'), {
      RECEIPT_ID: first(answer, /rcp_[a-z0-9]+/),
    })
    expect(verified).toContain('sandbox.agent-gateway.test')
    for (const output of [stored, issued, answer, verified]) expect(output).not.toContain(SECRET)
  })

  it('runs a program that knows nothing of the gateway, with the secret put in on its way out', async () => {
    const answer = await run(shell('npx agent-gateway run -- curl'))
    expect(JSON.parse(answer)).toMatchObject({ authenticated: true })
    expect(answer).not.toContain(SECRET)
  })

  it('says what happens to an answer that holds the secret', async () => {
    const answer = await run(
      shell(`curl -s ${ADDRESS}/v1/egress/fetch`).replace('/api/whoami', '/api/echo'),
      {
        CAPABILITY: capability,
      },
    )
    expect(JSON.parse(answer)).toMatchObject({ status: 502, code: 'secret_reflected' })
    expect(text).toContain('`502 secret_reflected`')
  })

  it('goes from a permit that a person approves to one execution of it', async () => {
    const stored = await run(shell("printf 'a-secret"))
    const prepared = await run(shell(`printf '{"order"`), { CREDENTIAL_ID: first(stored, /cred_[a-z0-9]+/) })
    const [permitId, permit] = [first(prepared, /pmt_[a-z0-9]+/), first(prepared, /^ey\S+$/m)]
    const approval = shell('npx agent-gateway permits list --pending')
    const execution = shell(`curl -s ${ADDRESS}/v1/actions/execute`)
    const early = await run(execution, { PERMIT: permit })
    expect(JSON.parse(early)).toMatchObject({ status: 409, code: 'permit_pending' })

    const approved = await run(approval, { PERMIT_ID: permitId })
    expect(approved).toContain('Purpose: Order green tea')
    expect(approved).toContain('| {"order": "green tea"}')
    expect(approved).toMatch(/^state +ready$/m)
    const answer = JSON.parse(await run(execution, { PERMIT: permit }))
    expect(answer).toMatchObject({ permit_id: permitId, upstream: { status: 200 }, credits: { charged: 1 } })

    const again = await run(execution, { PERMIT: permit })
    expect(JSON.parse(again)).toMatchObject({
      status: 409,
      code: 'permit_used',
      attempt_id: answer.attempt_id,
    })
    for (const code of ['permit_used', 'permit_mismatch']) expect(text).toContain(`\`409 ${code}\``)
    for (const output of [prepared, approved, again]) expect(output).not.toContain(SECRET)
  })

  it('serves a merchant from the check of its record to a signed answer', async () => {
    const call = shell(`curl -s -i ${ADDRESS}/edge/`)
    const refused = await run(call)
    expect(refused).toMatch(/^HTTP\/1\.1 403 [^]*"code":"edge_not_authorized"/)
    expect(text).toContain('`403 edge_not_authorized`')

    const checked = await run(shell('npx agent-gateway edge check'))
    expect(checked).toContain('_agent-gateway.sandbox.agent-gateway.test. 300 IN TXT "v=agw1; gw=')
    const served = await run(call)
    expect(served).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    for (const name of ['attempt', 'receipt', 'receipt-url', 'evidence'])
      expect(served).toMatch(new RegExp(`^x-gateway-${name}: \\S+\r$`, 'm'))
    expect(served).toContain('Green tea')
  })

  it('asks a listing of the market for its price', async () => {
    const asked = await run(shell(`curl -sS -i '${ADDRESS}/p/`))
    expect(asked).toMatch(/^HTTP\/1\.1 402 [^]*^payment-required: /im)
    expect(asked).toContain('"code":"payment_required"')
    const shown = JSON.parse(await run(shell(`curl -sS '${ADDRESS}/v1/marketplace/services`))) as {
      services: object[]
    }
    expect(shown.services[0]).toMatchObject({ seller: 'gateway', service_id: 'feed-digest' })
  })

  it('offers an API on the market, from registration to the first listing', async () => {
    const key = { 'data/seller.key': join(directory, 'seller.key') }
    const registered = await run(shell('PAYOUT=$('), key)
    expect(registered).toMatch(/^seller +tea-house$/m)
    expect(registered).toContain(
      '_agent-gateway.sandbox.agent-gateway.test. 300 IN TXT "agent-gateway-verification=',
    )
    const offered = await run(shell('SIGNED=$('), key)
    expect(offered).toContain('https://sandbox.agent-gateway.test is proven.')
    expect(offered).toContain('+ GET /brew/{tea}')
    expect(offered).toMatch(/^state +pending$/m)
    await run(shell('npx agent-gateway listings approve'))
    const asked = await fetch(`${baseUrl}/v1/marketplace/sellers/tea-house`)
    expect(await asked.json()).toMatchObject({ services: ['tea'], proven_hosts: [{}] })
  })

  it('pays for everything with one command', async () => {
    const shown = await run(shell('npx agent-gateway demo'))
    for (const name of ['Web extraction', 'Product offers', 'Feed digest', 'Feed digest (marketplace)'])
      expect(shown).toContain(`${name}\n  402, paid`)
    expect(shown).toMatch(/^eip155:8453 +payer +1000\.000000 +999\.7\d+/m)
  })

  it.each(outcomes)(
    'shows a real answer of %s, with members left out and nothing else',
    async (_, request, shown) => {
      const answer = await runProgram('examples/x402-fetch.ts', (text) =>
        text.replace(/body: JSON\.stringify\(.*\)/, () => `body: ${JSON.stringify(request)}`),
      )
      const { receipt, ...rest } = JSON.parse(answer) as Record<string, unknown>
      expect(rest).toMatchObject(JSON.parse(shown) as object)
      expect(receipt).toMatchObject({ jws: expect.any(String) })
    },
  )

  it('shows one answer of each outcome that is sold', () => {
    expect(outcomes.map(([id]) => id)).toEqual(['web-extraction', 'product-offers', 'feed-digest'])
  })

  it('decides about an email address with a free key', async () => {
    const answer = await run(shell('KEY=$(curl'))
    expect(JSON.parse(answer)).toMatchObject({
      email: 'ada@example.com',
      decision: 'accept',
      reasons: ['sandbox_domain'],
    })
  })

  it('inspects a transaction under a policy that is written in the data directory', async () => {
    const policy = await readFile(new URL('examples/policies/transaction-policy.json', root), 'utf8')
    await writeFile(join(directory, 'data', 'transaction-policy.json'), policy)
    const inspected = JSON.parse(await run(shell(`curl -s ${ADDRESS}/v1/inspect`)))
    expect(inspected).toMatchObject({ protocol: 'acp', policy: { decision: 'deny' } })
    // A policy that cannot be read is logged, and the last good one holds.
    expect(server.stderr()).not.toContain('transaction-policy.json is not valid')
  })

  it('counts what is paid on the windows of that policy', async () => {
    const KEY = (await readFile(join(directory, 'data', 'operator.key'), 'utf8')).trim()
    const command = shell(`curl -s ${ADDRESS}/v1/inspect -H "Authorization`).replace('$KEY', KEY)
    expect(JSON.parse(await run(command))).toMatchObject({
      protocol: 'acp',
      spend: { windows: expect.any(Array) },
    })
  })

  it('scores a folder of samples, and gives a badge for one', async () => {
    await mkdir(join(directory, 'samples'), { recursive: true })
    const [sample = ''] = /\{"target"[^]*?\}(?=')/.exec(shell(`curl -s ${ADDRESS}/v1/inspect`)) ?? []
    await writeFile(join(directory, 'samples', 'checkout.json'), sample)
    const [once = ''] = shell('npx agent-gateway test samples/').split('\n')
    expect(await run(once.replace('--min-score 75', '--min-score 0'), {}, directory)).toMatch(
      /^\d+\/100 .*acp, 2026-04-17/m,
    )
    const asked = shell(`curl -s ${ADDRESS}/v1/test`).replace(' | jq .badge', '')
    expect(JSON.parse(await run(asked))).toMatchObject({
      badge: { url: expect.stringContaining('/badges/') },
    })
  })

  it('says what a mail address for notifications needs', async () => {
    const command = shell('echo mailto:anna@example.com')
    await expect(run(command)).rejects.toThrow(/GATEWAY_SMTP_URL/)
  })

  it('stores a credential with one line for the shell', async () => {
    const written = await run(
      `${shell('eval "$(npx node examples/store-credential.ts)"')}echo "$CAPABILITY"\n`,
    )
    expect(written).toMatch(/^agw_cap_\w+$/m)
  })

  /** An example with one change, beside the packages it imports, as a user's project would have them. */
  async function runProgram(path: string, change: (text: string) => string): Promise<string> {
    const file = new URL(`test/readme-${process.pid}.ts`, root)
    await writeFile(file, change(await readFile(new URL(path, root), 'utf8')))
    try {
      const child = start(process.execPath, [file.pathname], {
        env: environment({ GATEWAY_BASE_URL: baseUrl }),
      })
      expect((await child.ended).code, child.stderr()).toBe(0)
      return child.stdout()
    } finally {
      await rm(file)
    }
  }
})

describe('the guide of the credential broker', () => {
  const TOKEN = 'a-token-that-stands-in-a-file-7f3a'
  beforeAll(async () => {
    await writeFile(join(directory, 'token.txt'), TOKEN)
  })
  /** Runs a block where the files are that it reads. */
  const runBeside = (block: string, placeholders?: Record<string, string>) =>
    run(block, placeholders, directory)

  it.each([
    [`echo '{"kind": {"type": "aws_sigv4"`, ['access_key_id', 'secret_access_key']],
    ['cat > binance.json', ['api_key', 'key']],
  ])('stores the parts of %s', async (command, names) => {
    const parts = Object.fromEntries(names.map((name) => [name, `${TOKEN}-${name}`]))
    await writeFile(join(directory, 'keys.json'), JSON.stringify(parts))
    const stored = await runBeside(shell(command))
    expect(stored).toMatch(/cred_[a-z0-9]+/)
    expect(stored).not.toContain(TOKEN)
  })

  it.each([
    [`echo '{"user": "me@example.com"`, 'jira'],
    [`echo '{"encoded_slash": true`, 'gitlab'],
  ])('stores what %s shows', async (command, provider) => {
    expect(await runBeside(shell(command))).toContain(provider)
  })

  it('stores a certificate with its key', async () => {
    const ca = await createTestCa()
    const client = await ca.client('agent-gateway')
    await ca.write(directory)
    await writeFile(join(directory, 'client.pem'), client.cert)
    await writeFile(join(directory, 'client.key'), client.key)
    const command = 'npx agent-gateway credentials add --provider custom --host vault.example.com'
    expect(await runBeside(shell(command))).toMatch(/cred_[a-z0-9]+/)
  })

  it('lets an operator decide about what was sent and never answered', async () => {
    const stored = await run(shell("printf 'a-secret").replace('--path /api', '--path /'))
    const issue = `npx agent-gateway capabilities issue --credential ${first(stored, /cred_[a-z0-9]+/)}`
    const CAPABILITY = first(await run(issue), /agw_cap_[0-9A-Za-z]+/)
    const lose = async () => {
      const call = shell(`curl -s ${ADDRESS}/v1/egress/fetch \\\n`).replace('/api/whoami', '/fail')
      const answer = JSON.parse(await run(call, { CAPABILITY })) as { code: string; attempt_id: string }
      expect(answer).toMatchObject({ code: 'outcome_ambiguous' })
      return answer.attempt_id
    }
    const [one, two] = [await lose(), await lose()]
    const shown = await run(shell('npx agent-gateway attempts list'), { ATTEMPT_ID: one, ANOTHER_ID: two })
    for (const id of [one, two]) expect(shown).toContain(id)
    expect(await run(`npx agent-gateway attempts show ${two}`)).toMatch(/refunded/)
  })

  it('checks an export of the audit log', async () => {
    await runBeside('npx agent-gateway audit export --out audit-2026-11-21.jsonl')
    await runBeside(`curl -s ${ADDRESS}/.well-known/gateway-egress-key.json > keys.json`)
    const [account] = /acct_\w+/.exec(await readFile(join(directory, 'audit-2026-11-21.jsonl'), 'utf8')) ?? []
    await server.until('stderr', new RegExp(`"event":"audit_head","chain":"${account}"`))
    await writeFile(join(directory, 'gateway.log'), server.stderr())
    const block = shell('npx agent-gateway audit list').replaceAll('audit-2026-11-22', 'audit-$(date +%F)')
    expect(await runBeside(block)).toMatch(/credential\.created/)
  })

  it('grants a private range that the variable allows to grant', async () => {
    const [, variable, range, rest] =
      /^(GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS)=(\S+) npx agent-gateway serve\n([^]*)$/.exec(
        shell('GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS='),
      )!
    await expect(runBeside(rest!)).rejects.toThrow(/GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS/)
    const data = join(directory, 'private')
    const own = start(process.execPath, [launcher, 'serve'], {
      env: environment({ PORT: '0', GATEWAY_DATA_DIR: data, [variable!]: range! }),
    })
    try {
      const [, url] = await own.until('stdout', /^listening on (\S+)$/m)
      const at = `export GATEWAY_BASE_URL=${url} GATEWAY_DATA_DIR=${data}\n`
      expect(await runBeside(at + rest!)).toMatch(/cred_[a-z0-9]+/)
    } finally {
      own.kill('SIGTERM')
      await own.ended
    }
  })

  it('gives a credential and a capability their budgets', async () => {
    const block = shell('npx agent-gateway credentials add --provider github')
    const [add = '', issue = ''] = block.trim().split('\n')
    const stored = await runBeside(add)
    expect(stored).toContain('5000')
    const issued = await runBeside(issue, { CREDENTIAL_ID: first(stored, /cred_[a-z0-9]+/) })
    for (const limit of ['100', '2.5']) expect(issued).toContain(limit)
  })

  it('sends a request once, however often it is asked for under one key', async () => {
    const stored = await run(shell("printf 'a-secret"))
    const credential = first(stored, /cred_[a-z0-9]+/)
    const issued = await run(`npx agent-gateway capabilities issue --credential ${credential}`)
    const CAPABILITY = first(issued, /agw_cap_[0-9A-Za-z]+/)
    const call = shell(`curl -s ${ADDRESS}/v1/egress/fetch -H 'Idempotency-Key`)
    const [one, two] = [await run(call, { CAPABILITY }), await run(call, { CAPABILITY })].map(
      (answer) => JSON.parse(answer) as { attempt_id: string; upstream: { status: number } },
    )
    expect(one).toMatchObject({ upstream: { status: 200 } })
    expect(two).toMatchObject({ attempt_id: one!.attempt_id, upstream: one!.upstream })
  })
})

describe('the guide of agent frameworks', () => {
  it.each(['npx mcporter list', 'npx mcp-inspector --cli'])('lists and calls with %s', async (command) => {
    const written = await run(shell(command))
    expect(written).toMatch(/gateway[_.]web[_.]fetch/)
    expect(written).toContain('This is a sample that ships with the gateway')
  })
})

describe('the page about people', () => {
  it('invites, lists, and shows each link once', async () => {
    const link = await run(shell('npx agent-gateway people invite\n'))
    expect(link).toMatch(/\/console\/join#agw_inv_\w{49}/)
    const listed = await run(shell('npx agent-gateway people invite --role approver'))
    expect(listed.match(/agw_inv_/g)).toHaveLength(1)
    expect(listed).toContain('Nobody has joined')
    expect(listed).toContain('Nobody is signed in.')
  })
})

describe('the page about operating', () => {
  it('backs up a gateway that runs, and restores it elsewhere', async () => {
    const made = await run(shell('npx agent-gateway backup --out'), {}, directory)
    expect(made).toContain('authority.jwk')
    const restored = await run(shell('mkdir -m 700 restored'), {}, directory)
    expect(restored).toContain('every balance is what its ledger adds up to')
  })
})

describe('the commands of all pages', () => {
  /** They install, or need a program that is not ours; the first test checks what they say. */
  const NOT_RUN = [
    /^npm ci && npm (?:start|test)$/,
    // A person decides in a browser meanwhile: test/long/cli-login.test.ts.
    /^npx agent-gateway log(?:in|out)$/,
    // They ask a service on the internet, for a program of the reader's: test/long/cli-run.test.ts, cli-run-policy.test.ts.
    /^(?:agent-gateway run --(?:credential openai|dry-run --summary)|eval "\$\(agent-gateway env) /,
    // A quarter of an hour, and root: one fault of it and its checks are test/long/chaos.test.ts.
    /^npm run chaos /,
    /^(?:claude mcp add --transport http agent-gateway|codex mcp add|gemini mcp add) /,
  ]

  it('are run by a test of this file', () => {
    const left = blocks
      .filter(({ language, text }) => language === 'sh' && !used.has(text))
      .filter(({ text }) => !NOT_RUN.some((pattern) => pattern.test(text.trim())))
    expect(left).toEqual([])
  })

  it('are in blocks of a language that a test looks at', () => {
    const known = ['sh', 'ts', 'python', 'json', 'jsonc', 'toml', 'text', 'yaml']
    expect(blocks.filter(({ language }) => !known.includes(language!))).toEqual([])
  })

  it('give the action of continuous integration what it takes', async () => {
    const action = parse(await readFile(new URL('action.yml', root), 'utf8')) as { inputs: object }
    const flows = blocks.filter(({ language }) => language === 'yaml')
    expect(flows).toHaveLength(1)
    for (const { text } of flows) {
      const { jobs } = parse(text) as { jobs: { payments: { steps: { uses: string; with?: object }[] } } }
      const given = jobs.payments.steps.find(({ uses }) => uses.includes('agent-gateway'))?.with ?? {}
      expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(given)))
      expect(given).toHaveProperty('files')
    }
  })
})

describe('the snippets for assistants', () => {
  const snippets = [...pages.get('docs/guides/mcp.md')!.matchAll(/^```json\n([^]*?)^```$/gm)].map(
    ([, text]) => JSON.parse(text!),
  )

  it('are JSON for Claude Desktop, Cursor and VS Code', () => {
    expect(snippets.map((snippet) => Object.keys(snippet).at(-1))).toEqual([
      'mcpServers',
      'mcpServers',
      'servers',
    ])
  })

  it('use the default address, whose list is portable', async () => {
    const code = blocks.map((block) => block.text).join('\n')
    // What mcporter calls a tool has its name behind the address, and assistants that sign in have an address of their own.
    const urls = new Set(code.match(/http:\/\/localhost:8402\/mcp(?!\.|\/connect\b)[^\s"']*/g))
    expect([...urls]).toEqual([`${ADDRESS}/mcp`])
    const answer = await fetch(`${baseUrl}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
    const { result } = (await answer.json()) as { result: { tools: { name: string }[] } }
    expect(result.tools.length).toBeGreaterThan(5)
    expect(result.tools.filter(({ name }) => name.includes('.'))).toEqual([])
  })

  it('name variables of the gateway that the table explains', () => {
    const named = new Set(text.match(/\bGATEWAY_[A-Z_]+[A-Z]\b/g))
    const explained = new Set(pages.get('docs/configuration.md')!.match(/\bGATEWAY_[A-Z_]+[A-Z]\b/g))
    expect([...named].filter((name) => !explained.has(name))).toEqual([])
  })
})
