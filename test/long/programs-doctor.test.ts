// `agent-gateway doctor -- <program>` for real programs: what it says is what the other tests of programs see.
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.ts'
import { removeFolder } from '../support/remove-folder.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doctor-'))
})
afterAll(() => removeFolder(folder))

const RUNTIMES = process.env['TEST_PROGRAMS_PATH'] ?? ''
const runtime = (name: string) => join(RUNTIMES, name)

async function tryOut(program: string) {
  const env = { HOME: folder, TMPDIR: folder, GATEWAY_DATA_DIR: join(folder, 'data') }
  const { stdout, code } = await runCli(['doctor', '--json', '--', program], env)
  const { findings } = JSON.parse(stdout) as { findings: { level: string; says: string }[] }
  return { code, says: findings.map(({ level, says }) => `${level}: ${says}`) }
}

describe('the doctor', () => {
  it.each([
    'curl',
    'git',
    'gh',
    'python3',
    'pip3',
    'java',
    process.execPath,
    ...['deno', 'bun'].map(runtime),
  ])('says that %s works', async (program) => {
    expect(await tryOut(program)).toEqual({
      code: 0,
      says: [`ok: ${program} uses the proxy and trusts its certificates`],
    })
  })

  it('says of aws that it works, and what kind of credential it takes', async () => {
    const { code, says } = await tryOut('aws')
    expect(code).toBe(0)
    expect(says).toEqual([
      'ok: aws uses the proxy and trusts its certificates',
      expect.stringContaining('aws_sigv4'),
    ])
  })

  it('says of a Node that ignores the proxy, as older ones do, that it goes past it', async () => {
    const node = join(folder, 'node')
    await writeFile(
      node,
      `#!/bin/sh\nunset NODE_USE_ENV_PROXY NODE_OPTIONS\nexec "${process.execPath}" "$@"\n`,
      {
        mode: 0o755,
      },
    )
    const { code, says } = await tryOut(node)
    expect(code).not.toBe(0)
    expect(says).toEqual([
      `fail: ${node} goes out past the proxy: HTTPS_PROXY means nothing to it.`,
      expect.stringContaining('use a base URL'),
    ])
  })
})
