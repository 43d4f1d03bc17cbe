// Processes of the gateway end without warning.
import { must } from '../../src/lib/must.ts'
import { type CallScene, openCalls } from '../calls.ts'
import type { Fault } from '../fault.ts'
import { doubleOrder, loseReceipt, takeCredit } from '../spoil.ts'

const killAll = async ({ replicas }: CallScene, signal: NodeJS.Signals) => {
  await Promise.all(replicas.map((replica) => replica.kill(signal)))
}

export const faults: readonly Fault<CallScene>[] = [
  {
    name: 'a gateway on SQLite killed',
    command: 'kill -9 PID, three times',
    promise: 'what was acknowledged is there after the restart; what was under way is refunded or ambiguous',
    notCovered: 'power loss (below)',
    open: () => openCalls({ engine: 'sqlite' }),
    async inject({ replicas, load }) {
      const replica = must(replicas[0], 'the gateway')
      for (let i = 0; i < 3; i++) {
        if (i > 0) await load.acknowledge(50)
        await replica.kill('SIGKILL')
      }
    },
    control: loseReceipt,
  },
  {
    name: 'one of two replicas killed',
    command: 'kill -9 PID',
    promise: 'the other goes on; what the dead one had under way is settled without a person',
    notCovered:
      'a machine that vanishes without closing its connections: PostgreSQL notices within half a minute',
    open: () => openCalls({ engine: 'postgres', replicas: 2 }),
    inject: ({ replicas }) => must(replicas[1], 'the second replica').kill('SIGKILL'),
    control: doubleOrder,
  },
  {
    name: 'both replicas killed at once',
    command: 'kill -9 PID PID',
    promise: 'the first that is back settles what both left behind, once',
    notCovered: 'the loss of the key files, which a backup is for',
    open: () => openCalls({ engine: 'postgres', replicas: 2 }),
    inject: (scene) => killAll(scene, 'SIGKILL'),
    control: takeCredit,
  },
  {
    name: 'both replicas asked to end',
    command: 'kill -TERM PID PID, as a rolling release does',
    promise: 'what runs is finished and answered before a process ends',
    notCovered: 'calls that last longer than the time a supervisor gives',
    open: () => openCalls({ engine: 'postgres', replicas: 2 }),
    inject: (scene) => killAll(scene, 'SIGTERM'),
    control: {
      what: 'kill -9, and callers that repeat under another key',
      open: () => openCalls({ engine: 'postgres', replicas: 2, keys: 'fresh' }),
      inject: (scene) => killAll(scene, 'SIGKILL'),
    },
  },
]
