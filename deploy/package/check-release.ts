// `node deploy/package/check-release.ts <tag> <owner/repository>`: whether a tag may be released from a repository. A fork that kept the names
// of this one, or a tag that was set too early, is told so before anything is built.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readManifest, repositoryUrl, ROOT } from './manifest.ts'

const [tag = '', repository = ''] = process.argv.slice(2)
const manifest = await readManifest()
const home = new URL(repositoryUrl(manifest)).pathname.slice(1)
const changes = await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8')

const problems = [
  ...(tag === `v${manifest.version}`
    ? []
    : [`the tag is ${tag}, package.json has version ${manifest.version}`]),
  ...(repository === home
    ? []
    : [
        `this is ${repository}, package.json says ${home}: set repository, homepage and mcpName to yours before you publish`,
      ]),
  ...(manifest.mcpName.toLowerCase().startsWith(`io.github.${home.split('/')[0]}/`.toLowerCase())
    ? []
    : [`mcpName ${manifest.mcpName} does not begin with io.github.${home.split('/')[0]}/`]),
  ...(changes.includes(`\n## ${manifest.version}`)
    ? []
    : [`CHANGELOG.md has no section ${manifest.version}`]),
]
for (const problem of problems) console.error(`not released: ${problem}`)
if (problems.length > 0) process.exitCode = 1
