import cliProgress from 'cli-progress';

/** Without a terminal, the minimum time between two lines. */
const lineEveryMs = 5_000;

export interface Progress {
  update(done: number): void;
  stop(): void;
}

interface ProgressSettings {
  readonly label: string;
  readonly unit: string;
  readonly total: number;
  /** Done by an earlier run; 0 by default. */
  readonly doneBefore?: number;
  readonly stream?: NodeJS.WriteStream;
  readonly nowMs?: () => number;
}

/** Shows a bar with rate and remaining time on a terminal, and an occasional line elsewhere. */
export function createProgress(settings: ProgressSettings): Progress {
  const { label, unit, total, doneBefore = 0 } = settings;
  const { stream = process.stderr, nowMs = () => performance.now() } = settings;
  const startedMs = nowMs();
  const describe = (done: number) => {
    const rate = Math.round((done - doneBefore) / Math.max((nowMs() - startedMs) / 1000, 0.001));
    return { rate, left: rate === 0 ? '?' : Math.ceil((total - done) / rate) };
  };
  if (stream.isTTY) {
    const format = `${label} {bar} {percentage}% | {value}/{total} ${unit} | {rate}/s | {left} s left`;
    const bar = new cliProgress.SingleBar(
      { format, stream, hideCursor: true },
      cliProgress.Presets.shades_classic,
    );
    bar.start(total, doneBefore, describe(doneBefore));
    return { update: (done) => bar.update(done, describe(done)), stop: () => bar.stop() };
  }
  let shownMs = startedMs;
  let last = doneBefore;
  const show = () => {
    const { rate, left } = describe(last);
    stream.write(`${label}: ${last} of ${total} ${unit}, ${rate}/s, ${left} s left\n`);
  };
  return {
    update: (done) => {
      last = done;
      if (nowMs() - shownMs < lineEveryMs) return;
      shownMs = nowMs();
      show();
    },
    stop: show,
  };
}
