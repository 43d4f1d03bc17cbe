// The job of the release workflow that publishes, its commands run as they are: npm and GitHub are programs of the test that remember what they
// were told, and one of them fails when it is asked to.
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { parse } from 'yaml'
import { removeFolder } from '../../support/remove-folder.ts'

const { jobs } = parse(
  readFileSync(new URL('../../../.github/workflows/release.yml', import.meta.url), 'utf8'),
) as { jobs: { publish: { steps: readonly { readonly run?: string }[] } } }
const commands = jobs.publish.steps.flatMap(({ run }) => run ?? [])

const GH = `#!/bin/sh
[ "$1" = release ] && [ "$3" = v1.2.3 ] || exit 2
case "$* " in *"--repo owner/name "*) ;; *) exit 2 ;; esac
if [ "$2" = view ]; then
  [ -f "$STATE/draft" ] || { echo 'release not found' >&2; exit 1; }
  cat "$STATE/draft"
  exit
fi
echo "gh $2" >>"$STATE/done"
[ "$FAILING" != "gh $2" ] || exit 1
case $2 in
  create) case $* in *--draft*) echo true ;; *) echo false ;; esac >"$STATE/draft" ;;
  upload) ls >"$STATE/files" ;;
  edit) echo false >"$STATE/draft" ;;
esac
`
const NPM = `#!/bin/sh
if [ "$1" = view ]; then
  [ "$2 $3" = 'agent-gateway@1.2.3 dist.integrity' ] && [ -f "$STATE/published" ] || exit 1
  cat "$STATE/published"
  exit
fi
echo "npm $1" >>"$STATE/done"
[ "$FAILING" != "npm $1" ] || exit 1
[ ! -f "$STATE/published" ] || exit 1
cp "$STATE/ours" "$STATE/published"
`

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'publishing-'))
  for (const name of ['bin', 'state', 'build']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'bin/gh'), GH, { mode: 0o755 })
  writeFileSync(join(folder, 'bin/npm'), NPM, { mode: 0o755 })
  const files = { 'agent-gateway-1.2.3.tgz': 'a tarball', 'sbom.json': '{}' }
  const sums = Object.entries(files).map(([name, text]) => {
    writeFileSync(join(folder, 'build', name), text)
    return `${hash('sha256', text)}  ${name}\n`
  })
  writeFileSync(join(folder, 'build/SHA256SUMS'), sums.join(''))
  writeFileSync(join(folder, 'state/ours'), `sha512-${hash('sha512', 'a tarball', 'base64')}\n`)
})
afterEach(() => removeFolder(folder))

/** One try of the job: whether it went through, and what it did at npm and GitHub. */
function attempt(failing = '') {
  const done = join(folder, 'state/done')
  writeFileSync(done, '')
  const path = [join(folder, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter)
  const failed = commands.some((command) => {
    const { status } = spawnSync('bash', ['-e', '-c', command], {
      cwd: join(folder, 'build'),
      env: {
        PATH: path,
        STATE: join(folder, 'state'),
        FAILING: failing,
        GITHUB_REF_NAME: 'v1.2.3',
        GITHUB_REPOSITORY: 'owner/name',
      },
    })
    return status !== 0
  })
  return { ok: !failed, did: readFileSync(done, 'utf8').trim().split('\n').filter(Boolean) }
}
const isPublic = () => readFileSync(join(folder, 'state/draft'), 'utf8') === 'false\n'

it('is a draft with its files, then the package, and public at last', () => {
  expect(attempt()).toEqual({ ok: true, did: ['gh create', 'gh upload', 'npm publish', 'gh edit'] })
  expect(readFileSync(join(folder, 'state/files'), 'utf8').split('\n')).toEqual([
    'SHA256SUMS',
    'agent-gateway-1.2.3.tgz',
    'sbom.json',
    '',
  ])
  expect(isPublic()).toBe(true)
})

it.each([
  ['gh create', ['gh create'], ['gh create', 'gh upload', 'npm publish', 'gh edit']],
  ['gh upload', ['gh create', 'gh upload'], ['gh upload', 'npm publish', 'gh edit']],
  ['npm publish', ['gh create', 'gh upload', 'npm publish'], ['gh upload', 'npm publish', 'gh edit']],
  ['gh edit', ['gh create', 'gh upload', 'npm publish', 'gh edit'], ['gh upload', 'gh edit']],
])('another try ends what one began whose %s failed', (failing, first, second) => {
  expect(attempt(failing)).toEqual({ ok: false, did: first })
  expect(existsSync(join(folder, 'state/draft')) && isPublic()).toBe(false)
  expect(attempt()).toEqual({ ok: true, did: second })
  expect(isPublic()).toBe(true)
  // What is public is left as it is.
  expect(attempt()).toEqual({ ok: true, did: ['gh edit'] })
})

it('is not public beside another package of that version', () => {
  writeFileSync(join(folder, 'state/published'), 'sha512-of-another\n')
  expect(attempt()).toEqual({ ok: false, did: ['gh create', 'gh upload'] })
  expect(isPublic()).toBe(false)
})

it('is nothing at all where a file is not the one that was packed', () => {
  writeFileSync(join(folder, 'build/sbom.json'), '{ }')
  expect(attempt()).toEqual({ ok: false, did: [] })
})
