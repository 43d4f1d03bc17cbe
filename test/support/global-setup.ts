// Runs once before the suites. Suites that need a server of their own start it themselves.
export default function setup(): void {}
