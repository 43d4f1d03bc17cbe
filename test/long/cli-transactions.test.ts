// `test` and `inspect` as processes: no gateway, no network, and nothing on the terminal that the sample put there.
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { InspectResult, TestReport } from '../../schemas/commerce.ts'
import { SAMPLES } from '../data/commerce/samples.ts'
import { runCli } from '../support/cli.ts'
import { wire } from '../support/commerce.ts'
import { removeFolder } from '../support/remove-folder.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gateway-cli-'))
})
afterAll(() => removeFolder(directory))

const save = async (name: string, value: unknown) => {
  const file = join(directory, name)
  await writeFile(file, typeof value === 'string' ? value : JSON.stringify(value))
  return file
}
const bare = wire(SAMPLES['x402-bare']!)

describe('test', () => {
  it('says score, level, dimensions and what to do, in words', async () => {
    const file = await save('bare.json', { source: 'a specification', expect: { protocol: 'x402' }, ...bare })
    const { code, stdout, stderr } = await runCli(['test', file], {})
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^63\/100 {2}at risk {3}x402, 2, payment, over http\n/)
    expect(stdout).toMatch(/idempotency +\.{20} +0 {2}\(weight 20\)/)
    expect(stdout).toMatch(/freshness +#{20} 100 {2}\(weight 15\)/)
    expect(stdout).toContain('X402-IDEM-01  0 of 14')
    expect(stdout).toContain('-> Send `extensions["payment-identifier"].info.id`')
    expect(stdout).not.toContain('5e71c0a49b3fd286')
  })

  it('names a variable of the environment that it does not know, and a member that the sample has twice', async () => {
    const file = await save('again.json', JSON.stringify(bare))
    const env = { GATEWAY_LOGLEVEL: 'debug' }
    const words =
      'agent-gateway: GATEWAY_LOGLEVEL is no variable of the gateway and is not read. Did you mean GATEWAY_LOG_LEVEL?\n'
    expect((await runCli(['test', file], env)).stderr).toBe(words)
    // Whoever reads JSON there gets JSON alone.
    expect((await runCli(['test', file, '--json'], env)).stderr).toBe('')
    const twice = await save('twice.json', JSON.stringify(bare).replace(/}$/, ',\n"method":"GET"}'))
    const { code, stderr } = await runCli(['test', twice], {})
    expect([code, stderr]).toEqual([
      65,
      expect.stringContaining('it has the member "method" twice in one object, in lines 1 and 2'),
    ])
  })

  it('prints the report itself with --json, from stdin, and the same bytes again', async () => {
    const run = () => runCli(['test', '-', '--json'], {}, JSON.stringify(bare))
    const [first, second] = await Promise.all([run(), run()])
    expect(TestReport.parse(JSON.parse(first.stdout))).toMatchObject({ score: 63, level: 'at_risk' })
    expect(second.stdout).toBe(first.stdout)
  })

  it('says apart what the protocol has no field for', async () => {
    const { stdout } = await runCli(['test', '-'], {}, JSON.stringify(wire(SAMPLES['mcp-2025']!)))
    const [, limits] = stdout.split('Not the fault of this sample')
    expect(limits).toContain('MCP-IDEM-01')
    expect(limits).toContain('can score more than 43')
  })

  it('takes hints of a tool and a time from the file, and a time from the option', async () => {
    const sample = { ...wire(SAMPLES['mcp-2025']!), tool_annotations: { readOnlyHint: true } }
    const hinted = await runCli(['test', '-', '--json'], {}, JSON.stringify(sample))
    expect(JSON.parse(hinted.stdout).dimensions.idempotency.score).toBe(100)
    const late = { ...bare, evaluate_at: '2026-09-21T14:14:00Z' }
    const inside = await runCli(['test', '-', '--json'], {}, JSON.stringify(late))
    const outside = await runCli(
      ['test', '-', '--json', '--evaluate-at', '2030-01-01T00:00:00Z'],
      {},
      JSON.stringify(late),
    )
    expect(JSON.parse(inside.stdout)).toMatchObject({ score: 63, evaluate_at: '2026-09-21T14:14:00.000Z' })
    expect(JSON.parse(outside.stdout).notes.map(({ id }: { id: string }) => id)).toContain('EXPIRED')
  })

  it('writes a badge', async () => {
    const badge = join(directory, 'badge.svg')
    const { code } = await runCli(['test', await save('again.json', bare), '--badge', badge], {})
    expect(code).toBe(0)
    expect(await readFile(badge, 'utf8')).toMatch(
      /^<svg [^>]*aria-label="transaction readiness: 63\/100 at risk"/,
    )
  })

  it('shows control characters of the sample as what they are', async () => {
    const escape = '\u001b[2J\u202e'
    const sample = {
      ...bare,
      headers: { ...bare.headers, [`Idempotency-Key${escape}`]: 'x', 'X-PAYMENT': escape },
    }
    const { stdout } = await runCli(['test', '-'], {}, JSON.stringify(sample))
    expect(['\u001b', '\u202e'].filter((character) => stdout.includes(character))).toEqual([])
  })

  it.each<[string, string, string]>([
    ['what is no JSON', '{"target":', 'not JSON in UTF-8'],
    ['what is nested too deeply', `${'['.repeat(5000)}${']'.repeat(5000)}`, 'nested too deeply'],
    ['JSON without a target', '{"method":"GET"}', '/target: Required'],
    ['a header that is a number', '{"target":"https://a.example","headers":{"a":1}}', '/headers/a'],
    ['nothing', '', 'not JSON in UTF-8'],
  ])('ends with 65 on %s', async (_, text, words) => {
    for (const command of ['test', 'inspect']) {
      const { code, stdout, stderr } = await runCli([command, await save('bad.json', text)], {})
      expect([command, code, stdout]).toEqual([command, 65, ''])
      expect(stderr).toContain(words)
    }
  })

  it('ends with 2 where there is no file, or the time is none', async () => {
    expect((await runCli(['test', join(directory, 'missing.json')], {})).code).toBe(2)
    expect((await runCli(['test', '-', '--evaluate-at', 'noon'], {}, '{}')).code).toBe(2)
  })
})

describe('inspect', () => {
  it('says what it is, and the decision of the default policy, in words', async () => {
    const { code, stdout, stderr } = await runCli(['inspect', await save('inspect.json', bare)], {})
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^(?:ALLOW|REVIEW|DENY) {3}x402, 2, payment, over http \(high confidence\)\n/)
    expect(stdout).toContain('Nothing was forwarded.')
    expect(stdout).not.toContain('5e71c0a49b3fd286')
  })

  it('prints the answer itself with --json', async () => {
    const { stdout } = await runCli(['inspect', '-', '--json'], {}, JSON.stringify(bare))
    expect(InspectResult.parse(JSON.parse(stdout))).toMatchObject({ protocol: 'x402', forwarded: false })
  })
})
