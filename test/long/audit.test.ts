// The audit log by the command line: exported from a gateway that runs, verified without it.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.ts'
import { ENGINES, startTestGateway, type TestGateway } from '../support/gateway.ts'

/** Lines of the log that hold heads. */
const headsOf = (log: string): string =>
  log
    .split('\n')
    .filter((line) => line.includes('"event":"audit_head"'))
    .join('\n')

describe.each(ENGINES)('the audit log (%s)', (engine) => {
  let gw: TestGateway
  beforeAll(async () => {
    gw = await startTestGateway({ engine })
  })
  afterAll(() => gw.close())

  it('is exported and verified offline by the command line, page by page, with an earlier export as its witness', async () => {
    await Promise.all(Array.from({ length: 20 }, () => gw.grant()))
    const cli = (...args: string[]) =>
      runCli(['audit', ...args], { GATEWAY_OPERATOR_KEY: gw.operatorKey, GATEWAY_DATA_DIR: gw.dataDir })
    const [first, second, keys] = ['first.jsonl', 'second.jsonl', 'keys.json'].map((name) =>
      join(gw.dataDir, name),
    ) as [string, string, string]
    const published = await gw.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')
    await writeFile(keys, published.text)
    await cli('export', '--url', gw.baseUrl, '--out', first)
    await gw.grant()
    await cli('export', '--url', gw.baseUrl, '--out', second)
    const verified = await cli('verify', second, '--keys', keys, '--witness', first)
    expect(verified.stdout).toContain('This audit log verifies')
    // The older file lacks what the newer one was signed for.
    const cut = await cli('verify', first, '--keys', keys, '--witness', second)
    expect(cut).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('does NOT verify: events at the end were removed'),
    })
    // Heads of the log are as good, those of other chains among them.
    await expect.poll(() => headsOf(gw.log())).toContain('"chain":"acct_')
    const logged = join(gw.dataDir, 'heads.jsonl')
    await writeFile(logged, headsOf(gw.log()))
    const third = await cli('verify', second, '--keys', keys, '--witness', logged)
    expect(third).toMatchObject({ code: 0, stdout: expect.stringContaining('heads of the witnesses say') })
    const other = join(gw.dataDir, 'installation.jsonl')
    await cli('export', '--url', gw.baseUrl, '--of', 'installation', '--out', other)
    const wrong = await cli('verify', second, '--keys', keys, '--witness', first, other)
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${other} is no witness of this log: it has heads of installation`),
    })
    expect((await cli('export', '--url', gw.baseUrl, '--out', first)).stderr).toContain('exists already')
    expect((await readFile(first, 'utf8')).split('\n').length).toBeGreaterThan(40)
  })
})
