import type { WeatherPlan } from './plan.ts';

/** Weather without faults, and hardly a delay. */
export const calmWeather: WeatherPlan;
