// Whether the system may write the memory of a gateway that crashes to a disk: keys and credentials are in it. One sentence says so, at the
// start and in the doctor. What becomes of a dump that is allowed (core_pattern) is not looked at.
import { readFileSync } from 'node:fs'

export const CORE_DUMPS_OFF =
  'Switch them off: LimitCORE=0 in a unit, `ulimits: { core: 0 }` in a compose file, --ulimit core=0 for a container, `ulimit -c 0` in a shell.'

/** @returns the words; undefined where dumps are off, and where nothing says whether they are */
export function describeCoreDumps(limit = coreLimit()): string | undefined {
  if (limit === undefined || limit === '0') return undefined
  const size = limit === 'unlimited' ? 'of any size' : `of up to ${limit} bytes`
  return `a crash may leave a core dump ${size} behind, with the keys of the gateway in it`
}

/**
 * The soft limit, which is the one that holds.
 * @returns bytes, or `unlimited`; undefined where the system does not say
 */
export function coreLimit(pid: number | 'self' = 'self'): string | undefined {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8')
    return /^Max core file size +(\d+|unlimited) /m.exec(limits)?.[1]
  } catch {
    // Another system than Linux, or a process that is not shown to us.
    return undefined
  }
}
