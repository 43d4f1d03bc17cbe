// What `npm ci` would trip over on another machine, and what a lockfile must not tell: addresses of a registry.
import { readFileSync } from 'node:fs'

const text = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')
const npmrc = readFileSync(new URL('../.npmrc', import.meta.url), 'utf8')
const { packages } = JSON.parse(text)
const problems = []

/** Where Node would look for `name` from the package at `path`, innermost first. */
function* placesOf(path, name) {
  for (let from = path; ; from = from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/')))) {
    yield `${from ? `${from}/` : ''}node_modules/${name}`
    if (from === '') return
  }
}

for (const [path, entry] of Object.entries(packages)) {
  const label = `${path || '(root)'}@${entry.version ?? ''}`
  for (const name of Object.keys(entry.optionalDependencies ?? {}))
    if (![...placesOf(path, name)].some((place) => packages[place]))
      problems.push(`${label}: optional dependency ${name} has no entry, npm ci would refuse the lockfile`)
  if (entry.resolved !== undefined && !entry.link) problems.push(`${label}: has a resolved address`)
  if (path !== '' && !entry.link && entry.integrity === undefined)
    problems.push(`${label}: has no integrity hash`)
}
const host = /\bhttps?:\/\/(?:registry|npm)\.[\w.-]+/.exec(text + npmrc)
if (host) problems.push(`a registry is named: ${host[0]}`)
if (!/^omit-lockfile-registry-resolved=true$/m.test(npmrc))
  problems.push('.npmrc: omit-lockfile-registry-resolved=true is missing')

for (const problem of problems) console.error(problem)
console.log(`${Object.keys(packages).length} packages, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
