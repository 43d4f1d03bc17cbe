// copy-keys <from> <to>: puts key files of a mounted secret into a data directory, 0600. What a gateway writes there itself (a rotation
// replaces signing.jwk) stays as long as the directory does: a file that is there is left as it is.
import { chmod, copyFile, link, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

const [from, to] = process.argv.slice(2)
if (from === undefined || to === undefined) {
  process.stderr.write('copy-keys <from> <to>\n')
  process.exit(2)
}
/** Those that the gateway looks for in its data directory and nowhere else. */
const NAMES = ['signing.jwk', 'derivation.jwk']

const given = await readdir(from)
const missing = NAMES.filter((name) => !given.includes(name))
if (missing.length > 0) {
  process.stderr.write(
    `${from} holds no ${missing.join(' and no ')}: with keys of its own each replica would refuse what the others sold. ` +
      'Put the files of one gateway into the secret (deploy/README.md, "Keys").\n',
  )
  process.exit(78)
}
for (const name of NAMES) {
  const part = join(to, `${name}.part`)
  // One that was cut off is begun anew.
  await rm(part, { force: true })
  await copyFile(join(from, name), part)
  await chmod(part, 0o600)
  try {
    await link(part, join(to, name))
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown
  }
  await rm(part)
}
