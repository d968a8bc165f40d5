import { runCommandLine } from './doors/cli.js';

process.exit(await runCommandLine());
