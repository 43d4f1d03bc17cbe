// Computes until it is killed: what a core looks like that somebody else has.
process.on('disconnect', () => process.exit(0))
const burn = () => {
  const end = performance.now() + 100
  while (performance.now() < end);
  setImmediate(burn)
}
burn()
