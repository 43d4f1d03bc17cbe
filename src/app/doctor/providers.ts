// Whether the operator's own providers can be read, as a start would read them.
import { stat } from 'node:fs/promises'
import { openProviders } from '../../egress/adapters/providers-file.ts'
import { builtIn } from '../../egress/providers/index.ts'
import { ConfigError } from '../../core/errors.ts'
import { runningFile } from '../running.ts'
import { type Check, fail, ok, warn } from './finding.ts'

/** Says each problem of the file with its place in it, and whether a running gateway has read it as it is. */
export const checkProviders: Check = async ({ config, running }) => {
  const { providersFile, dataDir } = config
  if (providersFile === undefined) return [ok('providers', `${builtIn.length} of the gateway's own`)]
  try {
    const all = (await openProviders(providersFile)).list().length
    const says = `${builtIn.length} of the gateway's own, ${all - builtIn.length} of ${providersFile}`
    // A start writes the note of the running gateway after it has read the file.
    if (
      running &&
      (await changedAt(providersFile)) > (await changedAt(runningFile(dataDir)).catch(() => Infinity))
    )
      return [
        warn(
          'providers',
          `${says}, which was changed since the gateway started`,
          'Start the gateway again: it reads the file at its start alone.',
        ),
      ]
    return [ok('providers', says)]
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    return thrown.problems.map((problem) =>
      fail('providers', problem, 'Correct the file: the gateway does not start with it.'),
    )
  }
}

const changedAt = async (file: string): Promise<number> => (await stat(file)).mtimeMs
