// `node deploy/package/check-release.ts <tag> <owner/repository>`: whether a tag may be released from a repository. A fork that kept the names
// of this one, or a tag that was set too early, is told so before anything is built.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readManifest, ROOT } from './manifest.ts'
import { releaseProblems } from './release-problems.ts'

const [tag = '', repository = ''] = process.argv.slice(2)
const problems = releaseProblems({
  tag,
  repository,
  manifest: await readManifest(),
  changes: await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8'),
})
for (const problem of problems) console.error(`not released: ${problem}`)
if (problems.length > 0) process.exitCode = 1
