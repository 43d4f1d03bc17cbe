// Texts with a secret in them cannot be zeroed: V8 owns them, and what it has not collected a core dump shows. It is asked to collect
// its young generation twice, which moves what lives and is done with what does not: of 150 copies after 50 requests 50 are left. That
// takes a millisecond or two, so it is done when no credential has been in use for a moment, and not while one is.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options: { readonly type: 'minor' }) => void

let collect: Collect | undefined | 'unknown' = 'unknown'

/** Collects the young generation of this thread. Does nothing where the runtime does not let itself be asked. */
export function collectYoung(): void {
  if (collect === 'unknown') collect = findCollect()
  collect?.({ type: 'minor' })
  collect?.({ type: 'minor' })
}

function findCollect(): Collect | undefined {
  try {
    setFlagsFromString('--expose-gc')
    return runInNewContext('gc') as Collect
  } catch {
    return undefined
  }
}
