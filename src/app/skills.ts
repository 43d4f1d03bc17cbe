// The folder skills/ of the package, read once at start.
import { readdir, readFile } from 'node:fs/promises'
import { readSkill, type SkillDocument } from '../documents/skills.ts'

/** The package's root is one level up from its bundle, and two from this file. */
const FOLDER = new URL(import.meta.url.endsWith('.ts') ? '../../skills/' : '../skills/', import.meta.url)

/** @returns none where the bundle was put somewhere without its folder */
export async function readSkills(): Promise<SkillDocument[]> {
  const entries = await readdir(FOLDER, { withFileTypes: true }).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return []
    throw thrown
  })
  return Promise.all(
    entries
      .filter((entry) => entry.isDirectory())
      .map(async ({ name }) => readSkill(await readFile(new URL(`${name}/SKILL.md`, FOLDER), 'utf8'))),
  )
}
