/* == value == */

static float model_value(const double *row, int column)
{
    return (float)row[column];
}

/* == pair == */

/* A value that is made of two others, or missing if it is not finite. */
static float model_pair(const double *row, int made)
{
    const double a = (float)row[model_first[made]], b = (float)row[model_second[made]];
    float value;
    switch (model_operators[made]) {
    case '+': value = (float)(a + b); break;
    case '-': value = (float)(a - b); break;
    case '*': value = (float)(a * b); break;
    default: value = (float)(a / b);
    }
    return isfinite(value) ? value : NAN;
}

/* == derived value == */

/* The value of a column; the last columns are made of two others. */
static float model_value(const double *row, int column)
{
    return column < MODEL_COLUMNS ? (float)row[column] : model_pair(row, column - MODEL_COLUMNS);
}

/* == value with means == */

/* The value of a column. Rarer levels have larger numbers than those that trees tell apart; they
   are missing there, and have a mean in a column of means, which follows those of the row. */
static float model_value(const double *row, int column)
{
    const int made = column - MODEL_COLUMNS;
    double number;
    if (made < 0)
        return row[column] > model_last_known[column] ? NAN : (float)row[column];
    if (made >= MODEL_MEANS)
        return model_pair(row, made - MODEL_MEANS);
    number = row[model_mean_column[made]] - model_last_known[model_mean_column[made]] - 1;
    if (!(number >= 0 && number < model_mean_start[made + 1] - model_mean_start[made]))
        return NAN;
    return model_mean[model_mean_start[made] + (int)number];
}

/* == sums == */

/* Add up what every tree says of a row; values are compared as 32-bit floats. */
static void model_sums(const double *row, double *sums)
{
    int t, k;
    for (k = 0; k < MODEL_OUTPUTS; k++)
        sums[k] = 0;
    for (t = 0; t < MODEL_TREES; t++) {
        int at = model_roots[t];
        while (at >= 0) {
            const float value = model_value(row, model_feature[at]);
            int goes_left;
            if (value != value)
                goes_left = model_missing_left[at];
            else if (MODEL_SUBSETS == 0 || model_subset[at] < 0)
                goes_left = value <= model_cut[at];
            else {
                const int level = value >= 0 && value < 256 ? (int)value : 255;
                goes_left = model_subsets[model_subset[at]][level / 8] >> level % 8 & 1;
            }
            at = goes_left ? model_left[at] : model_right[at];
        }
        for (k = 0; k < MODEL_OUTPUTS; k++)
            sums[k] += model_lines[~at][k];
    }
}

/* == largest == */

static int model_largest(const double *values)
{
    int k, best = 0;
    for (k = 1; k < MODEL_CLASSES; k++)
        if (values[k] > values[best])
            best = k;
    return best;
}

/* == sigmoid == */

static double model_sigmoid(double x)
{
    const double small = exp(x < 0 ? x : -x);
    return (x < 0 ? small : 1) / (1 + small);
}

/* == Sigmoid == */

static double model_curve(int k, double score)
{
    return model_sigmoid(model_slopes[k] * score + model_offsets[k]);
}

/* == Isotonic == */

/* The height of a curve: straight between its knots, and level outside. */
static double model_curve(int k, double score)
{
    int low = model_firsts[k], high = model_firsts[k + 1] - 1;
    double slope, height;
    if (score <= model_knots[low])
        return model_heights[low];
    if (score >= model_knots[high])
        return model_heights[high];
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (model_knots[middle] <= score)
            low = middle;
        else
            high = middle;
    }
    slope = (model_heights[high] - model_heights[low]) / (model_knots[high] - model_knots[low]);
    height = slope * (score - model_knots[low]) + model_heights[low];
    return height < 0 ? 0 : height > 1 ? 1 : height;
}

/* == normalise == */

static void model_normalise(double *heights)
{
    double total = 0;
    int k;
    for (k = 0; k < MODEL_CLASSES; k++)
        total += heights[k];
    for (k = 0; k < MODEL_CLASSES; k++)
        heights[k] = total > 0 ? heights[k] / total : 1.0 / MODEL_CLASSES;
}

/* == number == */

double model_predict(const double *row)
{
    double sum;
    model_sums(row, &sum);
    return MODEL_MIDDLE + MODEL_SCALE * (sum / MODEL_COUNT);
}

/* == number by its logarithm == */

double model_predict(const double *row)
{
    double sum;
    model_sums(row, &sum);
    return exp(MODEL_MIDDLE + MODEL_SCALE * (sum / MODEL_COUNT));
}

/* == one == */

int model_predict(const double *row)
{
    (void)row;
    return 0;
}

void model_probabilities(const double *row, double *probabilities)
{
    (void)row;
    probabilities[0] = 1;
}

/* == two == */

int model_predict(const double *row)
{
    double score;
    model_sums(row, &score);
    return score > 0;
}

/* == two plain == */

void model_probabilities(const double *row, double *probabilities)
{
    double score;
    model_sums(row, &score);
    probabilities[0] = model_sigmoid(-2 * score);
    probabilities[1] = model_sigmoid(2 * score);
}

/* == two curves == */

void model_probabilities(const double *row, double *probabilities)
{
    double score;
    model_sums(row, &score);
    probabilities[1] = model_curve(0, score);
    probabilities[0] = 1 - probabilities[1];
}

/* == many == */

int model_predict(const double *row)
{
    double scores[MODEL_CLASSES];
    model_sums(row, scores);
    return model_largest(scores);
}

/* == many plain == */

void model_probabilities(const double *row, double *probabilities)
{
    double scores[MODEL_CLASSES], most;
    int k;
    model_sums(row, scores);
    most = scores[model_largest(scores)];
    for (k = 0; k < MODEL_CLASSES; k++)
        probabilities[k] = exp(MODEL_STEEPNESS * (scores[k] - most));
    model_normalise(probabilities);
}

/* == many curves == */

void model_probabilities(const double *row, double *probabilities)
{
    double scores[MODEL_CLASSES];
    int k;
    model_sums(row, scores);
    for (k = 0; k < MODEL_CLASSES; k++)
        probabilities[k] = model_curve(k, scores[k]);
    model_normalise(probabilities);
}

/* == several == */

void model_predict(const double *row, int *labels)
{
    double scores[MODEL_CLASSES];
    int k;
    model_sums(row, scores);
    for (k = 0; k < MODEL_CLASSES; k++)
        labels[k] = scores[k] > 0;
}

void model_probabilities(const double *row, double *probabilities)
{
    double scores[MODEL_CLASSES];
    int k;
    model_sums(row, scores);
    for (k = 0; k < MODEL_CLASSES; k++)
        probabilities[k] = model_sigmoid(2 * scores[k]);
}

/* == shares == */

void model_probabilities(const double *row, double *probabilities)
{
    double sums[MODEL_OUTPUTS];
    int k;
    model_sums(row, sums);
    for (k = 0; k < MODEL_OUTPUTS; k++)
        probabilities[MODEL_CLASSES - MODEL_OUTPUTS + k] = sums[k] / MODEL_COUNT;
    if (MODEL_OUTPUTS < MODEL_CLASSES)
        probabilities[0] = 1 - probabilities[1];
}

/* == shares decide == */

int model_predict(const double *row)
{
    double probabilities[MODEL_CLASSES];
    model_probabilities(row, probabilities);
    return model_largest(probabilities);
}

/* == two from a score on == */

/* The second class from its threshold on. */
int model_predict(const double *row)
{
    double score;
    model_sums(row, &score);
    return score >= MODEL_CUT;
}

/* == two up to a score == */

/* The first class from its threshold on, which is a score at most. */
int model_predict(const double *row)
{
    double score;
    model_sums(row, &score);
    return score > MODEL_CUT;
}

/* == one class from a probability on == */

/* The class that has a threshold from there on, else the most probable other one. */
int model_predict(const double *row)
{
    double probabilities[MODEL_CLASSES];
    model_probabilities(row, probabilities);
    if (probabilities[MODEL_PLACE] >= MODEL_CUT)
        return MODEL_PLACE;
    probabilities[MODEL_PLACE] = -1;
    return model_largest(probabilities);
}

/* == level == */

double model_level(int column, const char *text)
{
    int k;
    for (k = 0; k < MODEL_LEVELS; k++)
        if (model_level_columns[k] == column && strcmp(model_level_texts[k], text) == 0)
            return model_level_numbers[k];
    return NAN;
}
