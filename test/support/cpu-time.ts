/** CPU milliseconds of this process meanwhile: the clock counts what else the machine has to do, too. */
export function cpuMs(run: () => unknown): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
